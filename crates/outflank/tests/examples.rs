//! Runs the examples.

#[path = "../examples/custom_features.rs"]
mod custom_features;
#[path = "../examples/custom_game.rs"]
mod custom_game;
#[path = "../examples/custom_learner.rs"]
mod custom_learner;
#[path = "../examples/embed_engine.rs"]
mod embed_engine;
// The two examples with arguments have a `main` that the tests do not call.
#[allow(dead_code)]
#[path = "../examples/play_match.rs"]
mod play_match;
#[allow(dead_code)]
#[path = "../examples/read_files.rs"]
mod read_files;
#[path = "../examples/train_and_evaluate.rs"]
mod train_and_evaluate;

#[test]
fn custom_features_are_learned() {
    custom_features::main().unwrap();
}

#[test]
fn a_custom_game_plays_and_learns() {
    custom_game::main().unwrap();
}

#[test]
fn a_custom_learner_runs_under_the_trainer() {
    custom_learner::main().unwrap();
}

#[test]
fn an_embedded_engine_evaluates_plays_and_answers() {
    embed_engine::main().unwrap();
}

#[test]
fn a_match_is_played() {
    play_match::run(&[]).unwrap();
}

#[test]
fn game_files_are_read() {
    read_files::run(Vec::new()).unwrap();
}

#[test]
fn a_model_is_trained_and_evaluated() {
    train_and_evaluate::main().unwrap();
}
