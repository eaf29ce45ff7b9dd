//! The initial weights: random, or those of `--init-from`.

use crate::cli::train_cnn::CnnArgs;
use crate::errors::{bail_usage, ensure_usage};
use crate::model_source;
use anyhow::{Context, Result};
use outflank_models::Model;
use outflank_models::files::policy_checksum;
use outflank_models::nets::{Input, NetGraph, Weights, net_by_name};
use outflank_runs::DataFile;

/// The default architecture.
const DEFAULT_NET: &str = "conv8-bn";

/// The name under which configurations store the checksum of the weights; old runs have it.
const WEIGHTS_OF_INIT_FROM: &str = "the weights of --from";

/// The weights of a trained network.
pub struct InitialWeights {
    /// The weights.
    pub weights: Weights,
    /// Their checksum, for the run's configuration.
    pub file: DataFile,
}

/// The network to train, with the weights of `--init-from`.
pub fn network(args: &CnnArgs) -> Result<(NetGraph, Option<InitialWeights>)> {
    let input: Option<Input> = args.input.as_deref().map(str::parse).transpose()?;
    let Some(from) = &args.init_from else {
        let name = args.net.as_deref().unwrap_or(DEFAULT_NET);
        return Ok((net_by_name(name, input.unwrap_or(Input::PIECES))?, None));
    };
    let (model, _) =
        model_source::load_named(from).with_context(|| format!("--init-from {from}"))?;
    let Model::PolicyNet(policy) = model else {
        bail_usage!(
            "--init-from {from}: it is not a convolutional network. Name a run of `outflank train cnn`, cnn \
             or experts"
        )
    };
    let net = policy.net();
    let other = args.net.as_deref().filter(|name| *name != net.name());
    ensure_usage!(
        other.is_none() && input.is_none_or(|input| input == net.input()),
        "--init-from {from} is a {} with input {}; omit --net and --input",
        net.name(),
        net.input()
    );
    let sha256 = policy_checksum(net, policy.weights())
        .map_err(|reason| anyhow::anyhow!("--init-from {from}: {reason}"))?;
    let file = DataFile { file: WEIGHTS_OF_INIT_FROM.to_owned(), sha256 };
    Ok((net.clone(), Some(InitialWeights { weights: policy.weights().clone(), file })))
}
