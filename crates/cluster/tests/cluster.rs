//! Runs batches over a real NATS server. The result of every job is accepted exactly once, also
//! with faulty workers, other versions and server failures. Skipped if there is no `nats-server`.

#[path = "support/nats.rs"]
mod nats;

use async_nats::HeaderMap;
use async_nats::jetstream::consumer::pull;
use futures_util::StreamExt;
use nats::NatsServer;
use outflank_cluster::{ClusterOptions, LogFn, NatsQueue, run_worker};
use outflank_runs::files::checksum;
use outflank_runs::{
    BlobStore, JobBatch, JobHandler, Verifier, WorkQueue, WorkQueueError, run_in_order,
};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{JoinHandle, sleep};
use std::time::Duration;

/// Computes squares and counts its calls. The first line of a task is the checksum of a blob, the
/// others are the numbers to square.
struct SquareHandler {
    calls: Arc<AtomicUsize>,
}

impl JobHandler for SquareHandler {
    fn kind(&self) -> &'static str {
        "squares"
    }

    fn execute(&self, task: &[u8], blobs: &dyn BlobStore) -> Result<Vec<u8>, String> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        let text = std::str::from_utf8(task).map_err(|error| error.to_string())?;
        let mut lines = text.lines();
        let blob =
            blobs.get(lines.next().unwrap_or(""), 1 << 20).map_err(|error| error.to_string())?;
        if blob == b"fail" {
            return Err("this cannot be squared".to_owned());
        }
        sleep(Duration::from_millis(20));
        let square = |line: &str| {
            let number: u64 = line.parse().map_err(|_| format!("{line} is not a number"))?;
            // Large results go through the object store.
            let filler = if number % 40 == 7 { "x".repeat(600_000) } else { String::new() };
            Ok(format!("{} {}{filler}", number * number, blob.len()))
        };
        let lines: Result<Vec<String>, String> = lines.map(square).collect();
        Ok(lines?.join("\n").into_bytes())
    }
}

/// A log callback that drops all messages.
fn silent_log() -> LogFn {
    Arc::new(|_| {})
}

/// A log callback that records messages, and the recorded messages.
fn recording_log() -> (LogFn, Arc<Mutex<Vec<String>>>) {
    let messages = Arc::new(Mutex::new(Vec::new()));
    let log = messages.clone();
    (Arc::new(move |text: &str| log.lock().unwrap().push(text.to_owned())), messages)
}

/// Options for a short test.
fn options(server: &NatsServer) -> ClusterOptions {
    let options = ClusterOptions::new(&server.address(), "1.2.3");
    ClusterOptions { worker_timeout: Duration::from_secs(3), ..options }
}

/// Starts a worker that stops after 15 seconds without a task.
fn start_worker(options: ClusterOptions, calls: &Arc<AtomicUsize>) -> JoinHandle<()> {
    let handlers: Vec<Box<dyn JobHandler>> = vec![Box::new(SquareHandler { calls: calls.clone() })];
    std::thread::spawn(move || {
        run_worker(&options, 2, Some(Duration::from_secs(15)), &handlers, silent_log()).unwrap();
    })
}

/// Computes the squares of the first numbers on the workers, in order. The tasks refer to `content`
/// as a blob.
fn compute_squares(
    queue: &NatsQueue,
    numbers: usize,
    content: &[u8],
) -> Result<Vec<u64>, WorkQueueError> {
    let blob = queue.put(content)?;
    let encode = |range: std::ops::Range<usize>| {
        let lines: Vec<String> = range.map(|number| number.to_string()).collect();
        format!("{blob}\n{}", lines.join("\n")).into_bytes()
    };
    let decode = |_, result: &[u8]| -> Result<Vec<u64>, String> {
        let text = std::str::from_utf8(result).map_err(|_| "it is not text".to_owned())?;
        let number = |line: &str| line.split(' ').next()?.parse().ok();
        text.lines().map(|line| number(line).ok_or_else(|| "no number".to_owned())).collect()
    };
    let check = |number: usize, square: &u64, _: &[usize]| match *square == (number * number) as u64
    {
        true => Ok(()),
        false => Err(format!("the square of {number} is not {square}")),
    };
    let verifier = Verifier { unit_count: &|_| 1, check: &check, check_first: true };
    loop {
        let mut squares = Vec::new();
        let batch = JobBatch { kind: "squares", run: "a run", jobs: numbers };
        let accept = |number: usize, square, _: &str| {
            assert_eq!(number, squares.len());
            squares.push(square);
            true
        };
        if run_in_order(queue, batch, &encode, decode, verifier, accept)?.is_empty() {
            return Ok(squares);
        }
    }
}

fn expected_squares(numbers: u64) -> Vec<u64> {
    (0..numbers).map(|number| number * number).collect()
}

#[test]
fn two_workers_execute_all_jobs_of_several_batches() {
    let Some(server) = NatsServer::start() else { return };
    let calls = Arc::new(AtomicUsize::new(0));
    let workers = [start_worker(options(&server), &calls), start_worker(options(&server), &calls)];
    let queue = NatsQueue::connect(&options(&server), silent_log()).unwrap();
    assert_eq!(compute_squares(&queue, 200, b"blob").unwrap(), expected_squares(200));
    assert!(queue.status().starts_with("2 workers"), "{}", queue.status());
    // The same batch is executed again: no results were left on the server.
    let before = calls.load(Ordering::SeqCst);
    assert_eq!(compute_squares(&queue, 20, b"blob").unwrap(), expected_squares(20));
    assert!(calls.load(Ordering::SeqCst) > before);
    // An empty batch.
    assert_eq!(compute_squares(&queue, 0, b"blob").unwrap(), expected_squares(0));
    // A job that fails on every worker ends the batch with the workers' message.
    let error = compute_squares(&queue, 5, b"fail").unwrap_err().to_string();
    assert!(error.contains("this cannot be squared"), "{error}");
    drop(workers);
}

/// Returns a JetStream context of a client that is neither a coordinator nor a worker, and the
/// runtime of its connection.
fn client(server: &NatsServer) -> (tokio::runtime::Runtime, async_nats::jetstream::Context) {
    let runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = { runtime }.worker_threads(1).enable_all().build().unwrap();
    let client = runtime.block_on(async_nats::connect(server.address())).unwrap();
    let context = runtime.block_on(async { async_nats::jetstream::new(client) });
    (runtime, context)
}

#[test]
fn invalid_tasks_do_not_stop_workers() {
    let Some(server) = NatsServer::start() else { return };
    let (log, messages) = recording_log();
    let queue = NatsQueue::connect(&options(&server), log).unwrap();
    let (runtime, context) = client(&server);
    // More invalid tasks than worker threads. Run and task must come from the subject, so the headers
    // are invalid too.
    let hex = &checksum(b"x")[..32];
    for (number, subject) in [
        format!("{hex}.{hex}"),
        "run.task".to_owned(),
        format!("{hex}.a"),
        format!("{hex}.{hex}.x"),
    ]
    .into_iter()
    .enumerate()
    {
        let mut headers = HeaderMap::new();
        headers.insert("Outflank-Version", "1.2.3");
        headers.insert("Outflank-Kind", "\u{1b}[31mkind");
        headers.insert("Outflank-Run", "a run with spaces.>");
        headers.insert("Outflank-Task", "x y");
        headers.insert("Nats-Msg-Id", format!("invalid {number}").as_str());
        let subject = format!("outflank.tasks.1_2_3.{subject}");
        runtime.block_on(async {
            let ack = context.publish_with_headers(subject, headers, "content".into()).await;
            ack.unwrap().await.unwrap();
        });
    }
    for _ in 0..2 {
        // The second worker starts after the first one has stopped.
        let worker = start_worker_for(options(&server), Duration::from_secs(3));
        assert_eq!(compute_squares(&queue, 40, b"blob").unwrap(), expected_squares(40));
        worker.join().unwrap();
    }
    let stream = runtime.block_on(context.get_stream("outflank-tasks")).unwrap();
    assert_eq!(stream.cached_info().state.messages, 0, "invalid tasks were removed");
    let messages = messages.lock().unwrap();
    assert!(messages.iter().all(|text| !text.contains('\u{1b}')), "{messages:?}");
}

/// Starts a worker with two threads that stops after this idle time.
fn start_worker_for(options: ClusterOptions, idle: Duration) -> JoinHandle<()> {
    let handlers: Vec<Box<dyn JobHandler>> =
        vec![Box::new(SquareHandler { calls: Arc::new(AtomicUsize::new(0)) })];
    std::thread::spawn(move || {
        run_worker(&options, 2, Some(idle), &handlers, silent_log()).unwrap();
    })
}

#[test]
fn users_of_the_deployed_configuration_have_the_rights_they_need() {
    let folder = tempfile::tempdir().unwrap();
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy/nats.conf");
    let config = std::fs::read_to_string(source).unwrap();
    // The port and the store folder are given on the command line.
    let config = config
        .replace("$COMMAND_PASSWORD", "\"c\"")
        .replace("$WORKER_PASSWORD", "\"w\"")
        .replace("port: 4222", "")
        .replace("store_dir: \"/data\"", "");
    let path = folder.path().join("nats.conf");
    std::fs::write(&path, config).unwrap();
    let path = path.display().to_string();
    let Some(server) = NatsServer::start_with(&["-c", &path]) else { return };
    let user = |name: &str, password: &str| ClusterOptions {
        user: Some((name.to_owned(), password.to_owned())),
        ..options(&server)
    };
    let queue = NatsQueue::connect(&user("command", "c"), silent_log()).unwrap();
    let worker = start_worker_for(user("worker", "w"), Duration::from_secs(5));
    // Some of these results go through the object store.
    assert_eq!(compute_squares(&queue, 100, b"blob").unwrap(), expected_squares(100));
    // A worker cannot submit tasks.
    let (log, messages) = recording_log();
    let submitter = NatsQueue::connect(&user("worker", "w"), log).unwrap();
    let refused = std::thread::spawn(move || compute_squares(&submitter, 3, b"blob"));
    let is_refused = |text: &String| text.contains("cannot store tasks");
    let started = std::time::Instant::now();
    while !messages.lock().unwrap().iter().any(is_refused) {
        assert!(started.elapsed() < Duration::from_secs(60), "{messages:?}");
        assert!(!refused.is_finished());
        sleep(Duration::from_millis(50));
    }
    worker.join().unwrap();
}

/// Returns wrong squares of numbers above 10.
struct ForgingHandler;

impl JobHandler for ForgingHandler {
    fn kind(&self) -> &'static str {
        "squares"
    }

    fn execute(&self, task: &[u8], _: &dyn BlobStore) -> Result<Vec<u8>, String> {
        sleep(Duration::from_millis(20));
        let text = std::str::from_utf8(task).map_err(|error| error.to_string())?;
        let numbers = text.lines().skip(1).filter_map(|line| line.parse::<u64>().ok());
        let squares = numbers.map(|number| number * number + u64::from(number > 10));
        Ok(squares.map(|square| format!("{square} 4")).collect::<Vec<_>>().join("\n").into_bytes())
    }
}

#[test]
fn a_forging_worker_is_quarantined_and_its_jobs_are_executed_again() {
    let Some(server) = NatsServer::start() else { return };
    let (log, messages) = recording_log();
    let queue_options = ClusterOptions { verify_share: 0.5, ..options(&server) };
    let queue = NatsQueue::connect(&queue_options, log).unwrap();
    let forger_options = options(&server);
    let forger = std::thread::spawn(move || {
        let handlers: Vec<Box<dyn JobHandler>> = vec![Box::new(ForgingHandler)];
        run_worker(&forger_options, 2, Some(Duration::from_secs(5)), &handlers, silent_log())
    });
    let honest = start_worker_for(options(&server), Duration::from_secs(5));
    assert_eq!(compute_squares(&queue, 300, b"blob").unwrap(), expected_squares(300));
    let status = queue.status();
    assert!(status.contains("1 quarantined"), "{status}");
    let messages = messages.lock().unwrap();
    let is_reason = |text: &&String| text.contains("is quarantined: the square of");
    assert!(messages.iter().any(|text| is_reason(&text)), "{messages:?}");
    forger.join().unwrap().unwrap();
    honest.join().unwrap();
}

/// Starts a worker that publishes two invalid results for each task and acknowledges it. Returns the
/// number of its tasks.
fn faulty_worker(address: String, version: &'static str, max_tasks: usize) -> JoinHandle<usize> {
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let client = async_nats::connect(address).await.unwrap();
            let context = async_nats::jetstream::new(client);
            let stream = context.get_stream("outflank-tasks").await.unwrap();
            let name = "workers-1_2_3";
            let consumer: async_nats::jetstream::consumer::Consumer<pull::Config> =
                stream.get_consumer(name).await.unwrap();
            let expires = Duration::from_secs(4);
            let tasks = consumer.batch().max_messages(max_tasks).expires(expires).messages().await;
            let mut tasks = tasks.unwrap();
            let mut task_count = 0;
            while let Some(Ok(task)) = tasks.next().await {
                let name = task.subject.strip_prefix("outflank.tasks.1_2_3.").unwrap();
                let subject = format!("outflank.results.{name}");
                let (content, sum) = match task_count % 4 {
                    0 => (&b"nonsense"[..], checksum(b"nonsense")),
                    1 => (&b"12 6"[..], checksum(b"something else")),
                    2 => (&b"\xff\xfe"[..], checksum(b"\xff\xfe")),
                    _ => (&b""[..], checksum(b"")),
                };
                let mut headers = HeaderMap::new();
                headers.insert("Outflank-Version", version);
                headers.insert("Outflank-Worker", "faulty");
                headers.insert("Outflank-Sha256", sum.as_str());
                for _ in 0..2 {
                    let (subject, headers) = (subject.clone(), headers.clone());
                    let ack = context.publish_with_headers(subject, headers, content.into()).await;
                    ack.unwrap().await.unwrap();
                }
                task.ack().await.unwrap();
                task_count += 1;
            }
            task_count
        })
    })
}

#[test]
fn invalid_results_and_other_versions_are_rejected() {
    let Some(server) = NatsServer::start() else { return };
    let (log, messages) = recording_log();
    let queue = NatsQueue::connect(&options(&server), log).unwrap();
    let faulty =
        [faulty_worker(server.address(), "1.2.3", 8), faulty_worker(server.address(), "9.9.9", 3)];
    let other = ClusterOptions { version: "9.9.9".to_owned(), ..options(&server) };
    let calls = Arc::new(AtomicUsize::new(0));
    let idle = start_worker(other, &calls);
    let correct = std::thread::spawn({
        let (options, done) = (options(&server), Arc::new(AtomicUsize::new(0)));
        move || {
            // After the faulty workers have fetched tasks.
            sleep(Duration::from_secs(2));
            start_worker(options, &done).join().unwrap();
        }
    });
    assert_eq!(compute_squares(&queue, 60, b"blob").unwrap(), expected_squares(60));
    let invalid: usize = faulty.into_iter().map(|worker| worker.join().unwrap()).sum();
    assert!(invalid > 0);
    let messages = messages.lock().unwrap();
    let count = |part: &str| messages.iter().filter(|text| text.contains(part)).count();
    assert!(count("rejected a result of worker faulty") >= invalid, "{messages:?}");
    assert!(count("version 9.9.9, not 1.2.3") > 0, "{messages:?}");
    assert!(count("gets no work from version 1.2.3") > 0, "{messages:?}");
    assert_eq!(calls.load(Ordering::SeqCst), 0, "a worker of another version gets no task");
    drop(messages);
    drop((correct, idle));
}

#[test]
fn batch_completes_after_server_restarts_with_and_without_its_store() {
    let Some(mut server) = NatsServer::start() else { return };
    let calls = Arc::new(AtomicUsize::new(0));
    let queue = Arc::new(NatsQueue::connect(&options(&server), silent_log()).unwrap());
    let workers = [start_worker(options(&server), &calls), start_worker(options(&server), &calls)];
    let coordinator = std::thread::spawn({
        let queue = queue.clone();
        move || compute_squares(&queue, 3000, b"blob").unwrap()
    });
    let wait_for_calls = |count: usize| {
        while calls.load(Ordering::SeqCst) < count {
            sleep(Duration::from_millis(5));
        }
    };
    wait_for_calls(10);
    server.kill();
    sleep(Duration::from_millis(300));
    server.restart();
    let now = calls.load(Ordering::SeqCst);
    wait_for_calls(now + 10);
    server.kill_and_delete_store();
    server.restart();
    assert_eq!(coordinator.join().unwrap(), expected_squares(3000));
    drop(workers);
}

#[test]
fn connection_errors_say_what_to_do() {
    let Some(plain) = NatsServer::start_with(&[]) else { return };
    let error_of = |options: &ClusterOptions| {
        NatsQueue::connect(options, silent_log()).unwrap_err().to_string()
    };
    let error = error_of(&options(&plain));
    assert!(error.contains("no JetStream") && error.contains("nats-server -js"), "{error}");
    let Some(closed) = NatsServer::start_with(&["-js", "--user", "me", "--pass", "secret"]) else {
        return;
    };
    let error = error_of(&options(&closed));
    assert!(error.contains("rejected a connection without credentials"), "{error}");
    let user = Some(("me".to_owned(), "secret".to_owned()));
    NatsQueue::connect(&ClusterOptions { user, ..options(&closed) }, silent_log()).unwrap();
    let address = closed.address().replace("nats://", "nats://me:secret@");
    NatsQueue::connect(&ClusterOptions { address, ..options(&closed) }, silent_log()).unwrap();
    let unreachable = ClusterOptions::new("nats://127.0.0.1:1", "1");
    let error = error_of(&unreachable);
    assert!(error.contains("no NATS server responds") && error.contains("127.0.0.1:1"), "{error}");
    let invalid = ClusterOptions { queue: "a.b".to_owned(), ..options(&plain) };
    assert!(error_of(&invalid).contains("not a valid queue name"));
    for address in ["http://x", "", "nats://", "nats://127.0.0.1:1,"] {
        let invalid = ClusterOptions { address: address.to_owned(), ..options(&plain) };
        let error = error_of(&invalid);
        assert!(error.contains("is not the address of a NATS server"), "{address}: {error}");
    }
    let address = plain.address().replace("nats://", "tls://");
    let error = error_of(&ClusterOptions { address, ..options(&plain) });
    assert!(error.contains("does not support TLS"), "{error}");
    let missing = ClusterOptions { credentials: Some("none.creds".into()), ..options(&plain) };
    assert!(error_of(&missing).contains("none.creds"));
}

#[test]
fn blobs_are_addressed_by_their_checksum() {
    let Some(server) = NatsServer::start() else { return };
    let queue = NatsQueue::connect(&options(&server), silent_log()).unwrap();
    let large: Vec<u8> = (0..1_500_000u32).map(|i| (i % 251) as u8).collect();
    let mut names = BTreeMap::new();
    for content in [&b""[..], b"small", &large] {
        let name = queue.put(content).unwrap();
        assert_eq!(name, checksum(content));
        assert_eq!(queue.put(content).unwrap(), name);
        names.insert(name, content);
    }
    for (name, content) in names {
        assert!(queue.get(&name, 1 << 30).unwrap() == content);
    }
    assert!(queue.get(&checksum(b"never stored"), 1 << 30).is_err());
    // Another process, which has no copies of the blobs, reads no more than its limit.
    let other = NatsQueue::connect(&options(&server), silent_log()).unwrap();
    let name = checksum(&large);
    assert!(other.get(&name, large.len() as u64).unwrap() == large);
    let error = other.get(&name, 1 << 20).unwrap_err().to_string();
    assert!(error.contains("is larger than 1 MiB"), "{error}");
    let error = other.get("../../x\u{1b}", 1 << 20).unwrap_err().to_string();
    assert!(error.contains("not a SHA-256 checksum") && !error.contains('\u{1b}'), "{error}");
}
