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
use outflank_runs::{BlobStore, JobBatch, JobHandler, WorkQueue, WorkQueueError, run_in_order};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{JoinHandle, sleep};
use std::time::Duration;

/// Computes squares and counts its calls. The first line of a task names a blob.
struct Squares(Arc<AtomicUsize>);

impl JobHandler for Squares {
    fn kind(&self) -> &'static str {
        "squares"
    }

    fn handle(&self, job: &[u8], blobs: &dyn BlobStore) -> Result<Vec<u8>, String> {
        self.0.fetch_add(1, Ordering::SeqCst);
        let text = std::str::from_utf8(job).map_err(|error| error.to_string())?;
        let mut lines = text.lines();
        let secret = blobs.get(lines.next().unwrap_or("")).map_err(|error| error.to_string())?;
        if secret == b"no" {
            return Err("this cannot be squared".to_owned());
        }
        sleep(Duration::from_millis(20));
        let square = |line: &str| {
            let number: u64 = line.parse().map_err(|_| format!("{line} is not a number"))?;
            // Large results go through the object store.
            let filler = if number % 40 == 7 { "x".repeat(600_000) } else { String::new() };
            Ok(format!("{} {}{filler}", number * number, secret.len()))
        };
        let lines: Result<Vec<String>, String> = lines.map(square).collect();
        Ok(lines?.join("\n").into_bytes())
    }
}

fn silent() -> LogFn {
    Arc::new(|_| {})
}

/// A log callback and the messages that it received.
fn recording_log() -> (LogFn, Arc<Mutex<Vec<String>>>) {
    let messages = Arc::new(Mutex::new(Vec::new()));
    let log = messages.clone();
    (Arc::new(move |text: &str| log.lock().unwrap().push(text.to_owned())), messages)
}

fn options(server: &NatsServer) -> ClusterOptions {
    let options = ClusterOptions::new(&server.address(), "1.2.3");
    ClusterOptions { ack_timeout: Duration::from_secs(3), ..options }
}

/// Starts a worker that stops after 15 idle seconds.
fn worker(options: ClusterOptions, calls: &Arc<AtomicUsize>) -> JoinHandle<()> {
    let handlers: Vec<Box<dyn JobHandler>> = vec![Box::new(Squares(calls.clone()))];
    std::thread::spawn(move || {
        run_worker(&options, 2, Some(Duration::from_secs(15)), &handlers, silent()).unwrap();
    })
}

/// Computes squares on the workers and returns them in order.
fn squares(queue: &NatsQueue, numbers: usize, secret: &[u8]) -> Result<Vec<u64>, WorkQueueError> {
    let blob = queue.put(secret)?;
    let encode = |range: std::ops::Range<usize>| {
        let lines: Vec<String> = range.map(|number| number.to_string()).collect();
        format!("{blob}\n{}", lines.join("\n")).into_bytes()
    };
    let decode = |_, result: &[u8]| -> Result<Vec<u64>, String> {
        let text = std::str::from_utf8(result).map_err(|_| "it is not text".to_owned())?;
        let number = |line: &str| line.split(' ').next()?.parse().ok();
        text.lines().map(|line| number(line).ok_or_else(|| "no number".to_owned())).collect()
    };
    let mut squares = Vec::new();
    let batch = JobBatch { kind: "squares", run: "a run", jobs: numbers };
    run_in_order(queue, batch, &encode, decode, |number, square| {
        assert_eq!(number, squares.len());
        squares.push(square);
        true
    })?;
    Ok(squares)
}

fn expected(numbers: u64) -> Vec<u64> {
    (0..numbers).map(|number| number * number).collect()
}

#[test]
fn several_workers_execute_every_job_once() {
    let Some(server) = NatsServer::start() else { return };
    let calls = Arc::new(AtomicUsize::new(0));
    let workers = [worker(options(&server), &calls), worker(options(&server), &calls)];
    let queue = NatsQueue::connect(&options(&server), silent()).unwrap();
    assert_eq!(squares(&queue, 200, b"secret").unwrap(), expected(200));
    assert!(queue.status().starts_with("2 workers"), "{}", queue.status());
    // The same batch is executed again: no results were left on the server.
    let before = calls.load(Ordering::SeqCst);
    assert_eq!(squares(&queue, 20, b"secret").unwrap(), expected(20));
    assert!(calls.load(Ordering::SeqCst) > before);
    // An empty batch.
    assert_eq!(squares(&queue, 0, b"secret").unwrap(), expected(0));
    // A job that fails on every worker ends the batch with the workers' message.
    let error = squares(&queue, 5, b"no").unwrap_err().to_string();
    assert!(error.contains("this cannot be squared"), "{error}");
    drop(workers);
}

/// Starts a worker that acknowledges every task and publishes invalid results.
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
            let stream = context.get_stream("outflank-jobs").await.unwrap();
            let name = "workers-1_2_3";
            let consumer: async_nats::jetstream::consumer::Consumer<pull::Config> =
                stream.get_consumer(name).await.unwrap();
            let expires = Duration::from_secs(4);
            let jobs = consumer.batch().max_messages(max_tasks).expires(expires).messages().await;
            let mut jobs = jobs.unwrap();
            let mut invalid = 0;
            while let Some(Ok(job)) = jobs.next().await {
                let of = |name: &str| {
                    job.headers.as_ref().unwrap().get(name).unwrap().as_str().to_owned()
                };
                let subject =
                    format!("outflank.results.{}.{}", of("Outflank-Run"), of("Outflank-Job"));
                let (content, sum) = match invalid % 4 {
                    0 => (&b"nonsense"[..], checksum(b"nonsense")),
                    1 => (&b"12 6"[..], checksum(b"something else")),
                    2 => (&b"\xff\xfe"[..], checksum(b"\xff\xfe")),
                    _ => (&b""[..], checksum(b"")),
                };
                let mut headers = HeaderMap::new();
                headers.insert("Outflank-Version", version);
                headers.insert("Outflank-Worker", "faulty");
                headers.insert("Outflank-Job", of("Outflank-Job").as_str());
                headers.insert("Outflank-Sha256", sum.as_str());
                for _ in 0..2 {
                    let (subject, headers) = (subject.clone(), headers.clone());
                    let ack = context.publish_with_headers(subject, headers, content.into()).await;
                    ack.unwrap().await.unwrap();
                }
                job.ack().await.unwrap();
                invalid += 1;
            }
            invalid
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
    let idle = worker(other, &calls);
    let correct = std::thread::spawn({
        let (options, done) = (options(&server), Arc::new(AtomicUsize::new(0)));
        move || {
            // After the faulty workers have fetched tasks.
            sleep(Duration::from_secs(2));
            worker(options, &done).join().unwrap();
        }
    });
    assert_eq!(squares(&queue, 60, b"secret").unwrap(), expected(60));
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
fn batch_survives_server_restart_and_loss_of_the_store() {
    let Some(mut server) = NatsServer::start() else { return };
    let calls = Arc::new(AtomicUsize::new(0));
    let queue = Arc::new(NatsQueue::connect(&options(&server), silent()).unwrap());
    let workers = [worker(options(&server), &calls), worker(options(&server), &calls)];
    let coordinator = std::thread::spawn({
        let queue = queue.clone();
        move || squares(&queue, 3000, b"secret").unwrap()
    });
    let wait_for_calls = |count: usize| {
        while calls.load(Ordering::SeqCst) < count {
            sleep(Duration::from_millis(5));
        }
    };
    wait_for_calls(10);
    server.kill();
    sleep(Duration::from_millis(300));
    server.start_again();
    let now = calls.load(Ordering::SeqCst);
    wait_for_calls(now + 10);
    server.lose_store();
    server.start_again();
    assert_eq!(coordinator.join().unwrap(), expected(3000));
    drop(workers);
}

#[test]
fn connection_errors_say_what_to_do() {
    let Some(plain) = NatsServer::with(&[]) else { return };
    let error_of =
        |options: &ClusterOptions| NatsQueue::connect(options, silent()).unwrap_err().to_string();
    let error = error_of(&options(&plain));
    assert!(error.contains("no JetStream") && error.contains("nats-server -js"), "{error}");
    let Some(closed) = NatsServer::with(&["-js", "--user", "me", "--pass", "secret"]) else {
        return;
    };
    let error = error_of(&options(&closed));
    assert!(error.contains("rejected a connection without credentials"), "{error}");
    let user = Some(("me".to_owned(), "secret".to_owned()));
    NatsQueue::connect(&ClusterOptions { user, ..options(&closed) }, silent()).unwrap();
    let address = closed.address().replace("nats://", "nats://me:secret@");
    NatsQueue::connect(&ClusterOptions { address, ..options(&closed) }, silent()).unwrap();
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
    let queue = NatsQueue::connect(&options(&server), silent()).unwrap();
    let large: Vec<u8> = (0..1_500_000u32).map(|i| (i % 251) as u8).collect();
    let mut names = BTreeMap::new();
    for content in [&b""[..], b"small", &large] {
        let name = queue.put(content).unwrap();
        assert_eq!(name, checksum(content));
        assert_eq!(queue.put(content).unwrap(), name);
        names.insert(name, content);
    }
    for (name, content) in names {
        assert!(queue.get(&name).unwrap() == content);
    }
    assert!(queue.get(&checksum(b"never stored")).is_err());
}
