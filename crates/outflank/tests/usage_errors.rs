//! Errors in the command line: suggestions, exit status, JSON.

#[path = "support/sandbox.rs"]
mod sandbox;

use sandbox::Sandbox;

/// Names from other programs and from older versions lead to the option.
#[test]
fn unknown_options_get_suggestions() {
    let sandbox = Sandbox::new();
    for (command, suggestion) in [
        ("train --passes 3", "'--epochs'"),
        ("train --rate 0.1", "'--learning-rate'"),
        ("train --iterations 5", "'--max-iterations'"),
        ("train cnn --minutes 5", "'--time-limit'"),
        ("train cnn --images", "'--symmetries'"),
        ("train cnn --gpu", "--device cuda"),
        ("train tdl --n-games 5", "'--games'"),
        ("train tdl --lr-rate 5", "'--lr"),
        ("match a b --concurrency 2", "'--threads'"),
        ("match a b --workers 2", "'--threads'"),
        ("match a b --tc 10+0.1", "champion?seconds=1"),
        ("match a b --depth 4", "champion@4"),
        ("reproduce cnn/table6 --share nets", "'--cache'"),
        ("data generate --to g.ggf --opening 4", "'--random-plies'"),
        ("train gp --opening 4", "'--random-plies'"),
        ("match a b --opening o.txt", "'--openings'"),
        ("openings --playouts 10", "'--simulations'"),
    ] {
        let message = sandbox.rejected(&command.split(' ').collect::<Vec<_>>());
        assert!(message.contains(suggestion), "{command}: {message}");
    }
}

#[test]
fn exit_status_and_json_errors() {
    let sandbox = Sandbox::new();
    sandbox.write("damaged.player", "");
    for (command, code, hint) in [
        ("match heuristic random --games 3", 2, true),
        ("match heuristic nobody", 2, true),
        ("match heuristic random --colour red", 2, true),
        ("match heuristic", 2, true),
        ("match heuristic random --set gmaes=4", 2, true),
        ("train mm --solver dual", 2, true),
        ("train --lr-schedule linear", 2, true),
        ("match heuristic damaged.player", 1, false),
        ("accuracy heuristic --records missing.wtb", 1, false),
    ] {
        let words: Vec<&str> = command.split(' ').collect();
        let plain = sandbox.run(&words);
        assert_eq!((plain.code, plain.out.as_str()), (code, ""), "{command}: {}", plain.err);
        let ran = sandbox.run(&[&words[..], &["--json"]].concat());
        assert_eq!((ran.code, ran.err.as_str()), (code, ""), "{command}");
        let found: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
        let message = found["error"]["message"].as_str().unwrap();
        assert!(!message.is_empty() && !message.starts_with("error"), "{command}: {message}");
        assert!(!hint || found["error"]["hint"].is_string(), "{command}: {found}");
    }
}
