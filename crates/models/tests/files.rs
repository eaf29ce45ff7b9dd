//! Tests of model files: round trips, published files, damaged files.

use outflank_models::files::{
    self, Origin, read_player, read_safetensors, read_wpc, write_player, write_safetensors,
    write_wpc,
};
use outflank_models::patterns::{AfterstateFeatures, ContextFeatures, Count, MoveFeatures, Stages};
use outflank_models::{
    Features, Mlp, Model, MovePredictor, NTupleNetwork, Patterns, Tuples, View, embedded,
};
use outflank_runs::{Rng, RngExt, rng};
use std::path::PathBuf;

fn data() -> Option<PathBuf> {
    let data = std::env::var_os("OUTFLANK_DATA").map(PathBuf::from);
    if data.is_none() {
        eprintln!("skipped: OUTFLANK_DATA is not set");
    }
    data
}

fn network(tuples: Tuples, view: View, seed: u64) -> NTupleNetwork {
    let mut rng = rng::stream(seed, &["files"]);
    let weights = (0..tuples.feature_count()).map(|_| rng.normal() as f32 * 1e-3).collect();
    NTupleNetwork::new(tuples, weights, view).unwrap()
}

/// Converts a file to format 1, which has no checksum.
fn without_checksum(bytes: &[u8]) -> Vec<u8> {
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let header = String::from_utf8(bytes[8..8 + length].to_vec()).unwrap();
    let at = header.find(r#",\"sha256\":\""#).unwrap();
    let end = at + r#",\"sha256\":\""#.len() + 64 + r#"\""#.len();
    let old = [&header[..at], &header[end..]].concat();
    let old = old.replacen(r#"\"format\":2"#, r#"\"format\":1"#, 1);
    [&(old.len() as u64).to_le_bytes()[..], old.as_bytes(), &bytes[8 + length..]].concat()
}

/// Reads an n-tuple network from safetensors bytes.
fn read_network(bytes: &[u8]) -> Option<NTupleNetwork> {
    match read_safetensors(bytes) {
        Ok((Model::NTuple(network), _)) => Some((*network).clone()),
        _ => None,
    }
}

#[test]
fn every_format_round_trips() {
    let origin = Origin {
        method: "ipref".to_owned(),
        seed: Some(7),
        version: "1.2".to_owned(),
        note: "a \"note\" with ünïcode".to_owned(),
    };
    for tuples in [embedded::runarsson_lucas_tuples(), Tuples::squares()] {
        for view in [View::Negate, View::Invert] {
            let network = network(tuples.clone(), view, 5);
            let model = Model::from(network.clone());
            let bytes = write_safetensors(&model, &origin).unwrap();
            assert_eq!(read_network(&bytes).unwrap(), network);
            assert_eq!(read_safetensors(&bytes).unwrap().1, origin);
            assert_eq!(write_safetensors(&model, &origin).unwrap(), bytes);
            let text = write_player(&network).unwrap();
            assert_eq!(read_player(&text).unwrap().with_view(view), network);
        }
    }
    let heuristic = embedded::heuristic();
    assert_eq!(read_wpc(&write_wpc(&heuristic).unwrap()).unwrap(), heuristic);
    assert_eq!(write_wpc(&network(Tuples::squares(), View::Negate, 1)), None);
}

#[test]
fn mlp_files_round_trip() {
    for name in ["WS 192-16x8-16-8-1", "SR 64-3-1", "SP 128-91-2-1", "SR+WS 192-2x8-1"] {
        let net = Mlp::random(&name.parse().unwrap(), &mut rng::stream(4, &[name]));
        let model = Model::from(net.clone());
        let bytes = write_safetensors(&model, &Origin::default()).unwrap();
        assert_eq!(bytes, write_safetensors(&model, &Origin::default()).unwrap());
        for read in [
            read_safetensors(&bytes),
            files::unpack(&files::pack(&model, &Origin::default()).unwrap()),
        ] {
            let Ok((Model::Mlp(read), _)) = read else { panic!("{name}: wrong kind of model") };
            assert_eq!(*read, net);
        }
        let folder = tempfile::tempdir().unwrap();
        let error = files::save(&folder.path().join("x.player"), &model, &Origin::default());
        assert!(error.unwrap_err().to_string().contains("only be written as .safetensors"));
    }
}

#[test]
fn file_extension_selects_the_format() {
    let folder = tempfile::tempdir().unwrap();
    let network = network(embedded::runarsson_lucas_tuples(), View::Invert, 9);
    for (name, expected) in
        [("x.safetensors", network.clone()), ("x.player", network.clone().with_view(View::Negate))]
    {
        let path = folder.path().join(name);
        files::save(&path, &network.clone().into(), &Origin::default()).unwrap();
        assert_eq!(files::load_network(&path).unwrap().0, expected);
    }
    let wpc = files::save(&folder.path().join("x.wpc"), &network.into(), &Origin::default());
    assert!(wpc.unwrap_err().to_string().contains("only a piece counter"));
    assert!(files::load(&folder.path().join("x.txt")).unwrap_err().to_string().contains("x.txt"));
    let missing = files::load(&folder.path().join("none.wpc")).unwrap_err().to_string();
    assert!(missing.contains("none.wpc") && missing.contains("check the path"), "{missing}");
}

#[test]
fn binary_features_are_stored() {
    let folder = tempfile::tempdir().unwrap();
    let (path, origin) = (folder.path().join("x.safetensors"), Origin::default());
    let binary = network(embedded::runarsson_lucas_tuples(), View::Invert, 3).with_binary(true);
    files::save(&path, &binary.clone().into(), &origin).unwrap();
    let (read, _) = files::load_network(&path).unwrap();
    assert!(read.is_binary());
    assert_eq!(read, binary);
    assert_ne!(read, binary.clone().with_binary(false));
    assert_eq!(write_player(&binary), None);
    let error =
        files::save(&folder.path().join("x.player"), &binary.clone().into(), &origin).unwrap_err();
    assert!(error.to_string().contains("write it as .safetensors"), "{error}");
    // 1-tuples never repeat a feature, so the flag is dropped and every format works.
    let squares = network(Tuples::squares(), View::Invert, 4).with_binary(true);
    assert!(!squares.is_binary() && write_player(&squares).is_some());
    // The flag is omitted if it is false.
    let bytes = write_safetensors(&binary.with_binary(false).into(), &origin).unwrap();
    assert!(!String::from_utf8_lossy(&bytes).contains("binary"));
    assert!(!read_network(&bytes).unwrap().is_binary());
}

/// Returns random multiples of `grid` for each stage.
fn stage_weights(weights: usize, stages: Stages, grid: f32) -> Vec<Vec<f32>> {
    let mut rng = rng::stream(8, &["stages"]);
    let mut row = || (0..weights).map(|_| (rng.below(2001) as f32 - 1000.0) * grid).collect();
    (0..stages.count()).map(|_| row()).collect()
}

fn patterns(tuples: Tuples, width: u32, grid: f32) -> Model {
    let features =
        AfterstateFeatures::new(tuples, vec![Count::OtherMoves, Count::OddQuadrants]).unwrap();
    let stages = Stages::with_width(width).unwrap();
    let weights = stage_weights(features.weight_count(), stages, grid);
    Patterns::new(features, stages, weights).unwrap().into()
}

fn move_predictor(tuples: Tuples, width: u32) -> Model {
    let features = ContextFeatures::with_afterstates(tuples, vec![Count::OwnMoves]).unwrap();
    let stages = Stages::with_width(width).unwrap();
    let weights = stage_weights(features.weight_count(), stages, 1.0 / 32.0);
    MovePredictor::new(features, stages, weights).unwrap().into()
}

#[test]
fn staged_models_round_trip() {
    let tuples = || Tuples::deduplicated(&[&[0u8, 1, 8][..], &[9, 18]]).unwrap();
    let origin = Origin::default();
    for grid in [1.0 / 32.0, 1.0 / 3.0] {
        let model = patterns(tuples(), 7, grid);
        let bytes = write_safetensors(&model, &origin).unwrap();
        let (read, _) = read_safetensors(&bytes).unwrap();
        let (Model::Patterns(read), Model::Patterns(model)) = (&read, &model) else {
            panic!("wrong kind of model");
        };
        assert_eq!(
            (read.stages(), read.features().counts()),
            (model.stages(), model.features().counts())
        );
        assert_eq!(read.features().tuples(), model.features().tuples());
        assert!((0..9).all(|stage| read.weights(stage) == model.weights(stage)));
        // Multiples of the grid are stored in 16 bits.
        let values = 9 * model.features().weight_count();
        let wide = if grid == 1.0 / 32.0 { 2 } else { 4 };
        assert!(bytes.len() > wide * values && bytes.len() < wide * values + 2000);
    }
    let model = move_predictor(tuples(), 20);
    let (read, _) = read_safetensors(&write_safetensors(&model, &origin).unwrap()).unwrap();
    let (Model::MovePredictor(read), Model::MovePredictor(model)) = (&read, &model) else {
        panic!("wrong kind of model");
    };
    assert!((0..3).all(|stage| read.weights(stage) == model.weights(stage)));
    // Random weights are not tied, so they cannot be packed.
    assert!(
        files::pack(&Model::MovePredictor(model.clone()), &origin).unwrap_err().contains("differ")
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.player");
    let error = files::save(&path, &Model::MovePredictor(model.clone()), &origin).unwrap_err();
    assert!(error.to_string().contains("only be written as .safetensors"), "{error}");
}

/// Move predictors keep their original kind in files; the kind shown to users is accepted too.
#[test]
fn move_predictor_files_keep_their_stored_kind() {
    let model = move_predictor(Tuples::symmetric(&[&[0u8, 1][..]]).unwrap(), 60);
    assert_eq!(model.kind(), "move-predictor");
    let bytes = without_checksum(&write_safetensors(&model, &Origin::default()).unwrap());
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let header = String::from_utf8(bytes[8..8 + length].to_vec()).unwrap();
    assert!(header.contains(r#"\"kind\":\"rater\""#), "{header}");
    let header = header.replace(r#"\"rater\""#, r#"\"move-predictor\""#);
    let renamed =
        [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &bytes[8 + length..]];
    let (read, _) = read_safetensors(&renamed.concat()).unwrap();
    assert!(matches!(read, Model::MovePredictor(_)));
}

#[test]
fn packed_models_round_trip() {
    let tuples = || Tuples::deduplicated(&[&[0u8, 1, 2, 8, 16][..], &[9, 18]]).unwrap();
    let features = AfterstateFeatures::new(tuples(), Count::ALL.to_vec()).unwrap();
    let stages = Stages::with_width(30).unwrap();
    let mut weights = stage_weights(features.weight_count(), stages, 1.0 / 32.0);
    for row in &mut weights {
        let tied = features.tied_weights();
        for index in 0..row.len() {
            row[index] = row[index.min(tied[index] as usize)];
        }
    }
    let model: Model = Patterns::new(features, stages, weights.clone()).unwrap().into();
    let origin = Origin { method: "ipref".to_owned(), ..Origin::default() };
    let packed = files::pack(&model, &origin).unwrap();
    assert!(packed.len() < write_safetensors(&model, &origin).unwrap().len());
    let (Model::Patterns(read), same) = files::unpack(&packed).unwrap() else {
        panic!("wrong kind of model");
    };
    assert_eq!(same, origin);
    assert!((0..2).all(|stage| read.weights(stage) == weights[stage]));
    assert!(files::unpack(&packed[..packed.len() / 2]).is_err());
    assert!(files::unpack(b"").is_err());
}

#[test]
fn published_players_load_with_the_expected_size_and_view() {
    let Some(data) = data() else { return };
    // Numbers of weights from Runarsson & Lucas (2014), Table III, and the views.
    let expected = [
        ("SzubertJaskowskiKrawiec2013CTDL.player", 4698, View::Negate),
        ("SzubertJaskowskiKrawiec2013ETDL.player", 3240, View::Negate),
        ("Burrow2011ETDL.player", 6561, View::Negate),
        ("Manning2010Nash70.player", 8748, View::Negate),
        ("RunnarsonLucas2014IPrefN.player", 6561, View::Invert),
        ("RunnarsonLucas2014IPref1.player", 192, View::Invert),
        ("JaskowskiSzubert2015CoCMAES-4+2x2.player", 2511, View::Invert),
        ("Jaskowski2014All2.player", 288, View::Invert),
        ("StandardHeuristic.wpc", 192, View::Negate),
    ];
    for (name, weights, view) in expected {
        let (network, _) = files::load_network(&data.join("players").join(name)).unwrap();
        assert_eq!((network.weights().len(), network.view()), (weights, view), "{name}");
    }
    let load = |name: &str| files::load_network(&data.join("players").join(name)).unwrap().0;
    assert_eq!(load("StandardHeuristic.wpc"), embedded::heuristic());
    assert_eq!(load("Yoshioka1999.wpc"), embedded::yoshioka());
    // Burrow's player uses the tuples of Table I in another order of tuples, placements and
    // squares.
    let sets = |tuples: &Tuples| {
        let mut sets: Vec<u64> = tuples
            .tuples()
            .iter()
            .map(|tuple| {
                let masks =
                    tuple.placements().iter().map(|i| i.iter().map(|s| s.bit()).sum::<u64>());
                masks.min().unwrap()
            })
            .collect();
        sets.sort_unstable();
        sets
    };
    assert_eq!(
        sets(load("Burrow2011ETDL.player").tuples()),
        sets(&embedded::runarsson_lucas_tuples())
    );
}

/// Damages a file slightly (flips, cuts, repeats, inserts), so that it gets deep into a parser.
fn mutate(original: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut bytes = original.to_vec();
    for _ in 0..=rng.below(4) {
        let at = rng.below(bytes.len().max(1) as u32) as usize;
        match rng.below(6) {
            0 if !bytes.is_empty() => bytes[at] ^= 1 << rng.below(8),
            1 if !bytes.is_empty() => bytes[at] = rng.below(256) as u8,
            2 => bytes.truncate(at),
            3 => {
                let piece = bytes[at..(at + 40).min(bytes.len())].to_vec();
                bytes.splice(at..at, piece);
            }
            4 => {
                let words: [&[u8]; 8] = [
                    b" 99999999999 ",
                    b" -1 ",
                    b" nan ",
                    b" inf ",
                    b" 1e99 ",
                    b"{",
                    b"\xff\xfe",
                    b" 12 8 ",
                ];
                let word = words[rng.below(8) as usize];
                bytes.splice(at..at, word.iter().copied());
            }
            _ => drop(bytes.drain(at..(at + rng.below(30) as usize).min(bytes.len()))),
        }
    }
    bytes
}

/// Returns whether a network is valid.
fn is_valid(network: &NTupleNetwork) -> bool {
    network.weights().len() == network.tuples().feature_count()
        && network.weights().iter().all(|w| w.is_finite())
}

#[test]
fn damaged_files_are_rejected_or_valid() {
    let mut rng = rng::stream(11, &["damage"]);
    let small = Tuples::symmetric(&[&[0u8, 1, 2][..], &[9, 18]]).unwrap();
    let player = write_player(&network(small.clone(), View::Negate, 1)).unwrap();
    let mut players = vec![player.into_bytes()];
    let mut wpcs = vec![write_wpc(&embedded::heuristic()).unwrap().into_bytes()];
    let tensors: Vec<Vec<u8>> = [
        network(small.clone(), View::Invert, 2).into(),
        patterns(small.clone(), 2, 1.0 / 32.0),
        move_predictor(small, 3),
        Mlp::random(&"WS 64-1x8-2-1".parse().unwrap(), &mut rng::stream(12, &["damage"])).into(),
    ]
    .iter()
    .map(|model| without_checksum(&write_safetensors(model, &Origin::default()).unwrap()))
    .collect();
    if let Some(data) = data() {
        let read = |name: &str| std::fs::read(data.join("players").join(name)).unwrap();
        players.push(read("Jaskowski2014All2.player"));
        players.push(read("RunnarsonLucas2014IPref1.player"));
        wpcs.push(read("LucasRunarsson2006.wpc"));
    }
    let mut accepted = [0; 3];
    for round in 0..10_000 {
        let player = mutate(&players[round % players.len()], &mut rng);
        if let Ok(network) = read_player(&String::from_utf8_lossy(&player)) {
            assert!(is_valid(&network));
            accepted[0] += 1;
        }
        let wpc = mutate(&wpcs[round % wpcs.len()], &mut rng);
        if let Ok(network) = read_wpc(&String::from_utf8_lossy(&wpc)) {
            assert!(is_valid(&network));
            accepted[1] += 1;
        }
        if let Ok((model, _)) = read_safetensors(&mutate(&tensors[round % tensors.len()], &mut rng))
        {
            assert!(match &model {
                Model::NTuple(network) => is_valid(network),
                Model::Patterns(p) => (0..p.stages().count())
                    .all(|stage| p.weights(stage).len() == p.features().weight_count()),
                Model::MovePredictor(p) => (0..p.stages().count())
                    .all(|stage| p.weights(stage).len() == p.features().weight_count()),
                Model::PolicyNet(policy) =>
                    policy.weights().values().len() == policy.net().params().len(),
                Model::Mlp(net) => net.weights().iter().all(|w| w.is_finite()),
            });
            accepted[2] += 1;
        }
    }
    // Some changes are harmless, such as a changed digit of a weight; most are not.
    assert!(accepted.iter().all(|&n| n > 0 && n < 9_000), "{accepted:?}");
}

/// Every single flipped bit is an error, and files without a checksum load.
#[test]
fn a_flipped_bit_is_rejected() {
    let small = Tuples::symmetric(&[&[0u8, 1][..], &[9, 18]]).unwrap();
    let net =
        outflank_models::nets::net_by_name("fc2x16", outflank_models::nets::Input::PIECES).unwrap();
    let weights = outflank_models::nets::Weights::init(&net, 4);
    let models: [Model; 4] = [
        network(small.clone(), View::Invert, 2).into(),
        move_predictor(small, 60),
        Mlp::random(&"WS 64-1x8-2-1".parse().unwrap(), &mut rng::stream(12, &["flip"])).into(),
        outflank_models::nets::PolicyNet::new(net, weights).into(),
    ];
    let origin = Origin { note: "a note".to_owned(), ..Origin::default() };
    for model in models {
        let bytes = write_safetensors(&model, &origin).unwrap();
        assert_eq!(files::has_checksum(&bytes), Ok(true));
        let header = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        // All bits of the header and of some bytes of the tensors.
        let step = (bytes.len() / 300).max(1);
        for at in (0..bytes.len()).filter(|at| *at < header || at % step == 0) {
            for bit in 0..8 {
                let mut flipped = bytes.clone();
                flipped[at] ^= 1 << bit;
                assert!(read_safetensors(&flipped).is_err(), "byte {at}, bit {bit}");
            }
        }
        let mut flipped = bytes.clone();
        *flipped.last_mut().unwrap() ^= 1;
        let message = read_safetensors(&flipped).err().unwrap();
        assert!(message.contains("checksum"), "{message}");
        let old = without_checksum(&bytes);
        assert_eq!(files::has_checksum(&old), Ok(false));
        assert_eq!(read_safetensors(&old).unwrap().1, origin);
        let again = write_safetensors(&read_safetensors(&old).unwrap().0, &origin).unwrap();
        assert_eq!(again, bytes);
    }
}

/// A text file that was cut anywhere is an error.
#[test]
fn truncated_text_files_are_rejected() {
    let tuples = Tuples::symmetric(&[&[0u8, 1][..]]).unwrap();
    let player = write_player(&network(tuples, View::Negate, 1)).unwrap();
    // The League's older files have no braces.
    let bare = player.replace(['{', '}'], "");
    let bare = bare.trim_end().to_owned() + "\n";
    for text in [player.trim_end(), &bare] {
        assert!(read_player(text).is_ok());
        for end in 0..text.len() {
            assert!(read_player(&text[..end]).is_err(), "{end} of {}", text.len());
        }
    }
    let wpc = write_wpc(&embedded::heuristic()).unwrap();
    for end in 0..wpc.len() {
        assert!(read_wpc(&wpc[..end]).is_err(), "{end} of {}", wpc.len());
    }
}

#[test]
fn hostile_headers_are_rejected() {
    for text in [
        "99999999999999999999",
        "1000000 12 64",
        "1 12 8 0 1 2 3",
        "1 13 1",
        "1 2 0",
        "1 2 65",
        "1 1 1 64 0 0 0",
        "1 1 1 0 0 nan 0",
        "1 1 1 0 0 1e99 0",
        "1 1 1 0 0 0 0 0",
        "",
    ] {
        assert!(read_player(text).is_err(), "{text}");
    }
    let mut huge = u64::MAX.to_le_bytes().to_vec();
    assert!(read_safetensors(&huge).is_err());
    huge[..8].copy_from_slice(&(1u64 << 40).to_le_bytes());
    assert!(read_safetensors(&huge).is_err());
    assert!(read_safetensors(b"").is_err());
}

mod any_bytes {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _ = read_safetensors(&bytes);
            let text = String::from_utf8_lossy(&bytes);
            let _ = read_player(&text);
            let _ = read_wpc(&text);
        }
    }
}
