//! Where learning begins: at random weights, or at those of a network that has learned.

use crate::cli::learn_cnn::CnnArgs;
use crate::models;
use anyhow::{Context, Result, bail, ensure};
use outflank_models::Model;
use outflank_models::files::{Origin, write_policy};
use outflank_models::nets::{Input, NetGraph, Weights, named};
use outflank_runs::{DataFile, files};

/// The network when nobody names one.
const USUAL: &str = "conv8-bn";

/// The weights of a network that has learned.
pub struct Begin {
    /// The weights.
    pub weights: Weights,
    /// A checksum of them, wherever they lay, for the run's folder.
    pub file: DataFile,
}

/// The network that is to learn, and what it knows already.
pub fn net(args: &CnnArgs) -> Result<(NetGraph, Option<Begin>)> {
    let input: Option<Input> = args.input.as_deref().map(str::parse).transpose()?;
    let Some(from) = &args.from else {
        let name = args.net.as_deref().unwrap_or(USUAL);
        return Ok((named(name, input.unwrap_or(Input::PIECES))?, None));
    };
    let (model, _) = models::named(from).with_context(|| format!("--from {from}"))?;
    let Model::PolicyNet(deep) = model else {
        bail!(
            "--from {from}: it is no deep network; give one that `outflank learn cnn` made, cnn or experts"
        )
    };
    let net = deep.net();
    let other = args.net.as_deref().filter(|name| *name != net.name());
    ensure!(
        other.is_none() && input.is_none_or(|input| input == net.input()),
        "--from {from} is a {} that sees {}; leave out --net and --input",
        net.name(),
        net.input()
    );
    let bytes = write_policy(net, deep.weights(), &Origin::default(), false)
        .map_err(|reason| anyhow::anyhow!("--from {from}: {reason}"))?;
    let file =
        DataFile { file: "the weights of --from".to_owned(), sha256: files::checksum(&bytes) };
    Ok((net.clone(), Some(Begin { weights: deep.weights().clone(), file })))
}
