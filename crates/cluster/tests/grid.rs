//! Jobs over a real server: every piece is answered once and rightly, whoever else answers.

#[path = "support/nats.rs"]
mod nats;

use async_nats::HeaderMap;
use async_nats::jetstream::consumer::pull;
use futures_util::StreamExt;
use nats::NatsServer;
use outflank_cluster::{Grid, Note, Options, work};
use outflank_runs::files::checksum;
use outflank_runs::{WorkQueue, WorkQueueError, BlobStore, JobBatch, JobHandler, run_in_order};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{JoinHandle, sleep};
use std::time::Duration;

/// Turns numbers into their squares; counts how often it is asked.
struct Squares(Arc<AtomicUsize>);

impl JobHandler for Squares {
    fn kind(&self) -> &'static str {
        "squares"
    }

    fn handle(&self, job: &[u8], library: &dyn BlobStore) -> Result<Vec<u8>, String> {
        self.0.fetch_add(1, Ordering::SeqCst);
        let text = std::str::from_utf8(job).map_err(|error| error.to_string())?;
        let mut lines = text.lines();
        let secret =
            library.get(lines.next().unwrap_or("")).map_err(|error| error.to_string())?;
        if secret == b"no" {
            return Err("this cannot be squared".to_owned());
        }
        sleep(Duration::from_millis(20));
        let square = |line: &str| {
            let number: u64 = line.parse().map_err(|_| format!("{line} is no number"))?;
            // Large answers take another way.
            let filler = if number % 40 == 7 { "x".repeat(600_000) } else { String::new() };
            Ok(format!("{} {}{filler}", number * number, secret.len()))
        };
        let lines: Result<Vec<String>, String> = lines.map(square).collect();
        Ok(lines?.join("\n").into_bytes())
    }
}

fn silent() -> Note {
    Arc::new(|_| {})
}

/// A note-taker and its notes.
fn notes() -> (Note, Arc<Mutex<Vec<String>>>) {
    let all = Arc::new(Mutex::new(Vec::new()));
    let book = all.clone();
    (Arc::new(move |text: &str| book.lock().unwrap().push(text.to_owned())), all)
}

fn options(server: &NatsServer) -> Options {
    Options { patience: Duration::from_secs(3), ..Options::new(&server.address(), "1.2.3") }
}

/// A worker that goes when it has had nothing to do for a while.
fn worker(options: Options, asked: &Arc<AtomicUsize>) -> JoinHandle<()> {
    let trades: Vec<Box<dyn JobHandler>> = vec![Box::new(Squares(asked.clone()))];
    std::thread::spawn(move || {
        work(&options, 2, Some(Duration::from_secs(15)), &trades, silent()).unwrap();
    })
}

/// Asks for squares and returns them in order.
fn squares(grid: &Grid, numbers: usize, secret: &[u8]) -> Result<Vec<u64>, WorkQueueError> {
    let shared = grid.put(secret)?;
    let describe = |range: std::ops::Range<usize>| {
        let lines: Vec<String> = range.map(|number| number.to_string()).collect();
        format!("{shared}\n{}", lines.join("\n")).into_bytes()
    };
    let read = |_, answer: &[u8]| -> Result<Vec<u64>, String> {
        let text = std::str::from_utf8(answer).map_err(|_| "it is not text".to_owned())?;
        let number = |line: &str| line.split(' ').next()?.parse().ok();
        text.lines().map(|line| number(line).ok_or_else(|| "no number".to_owned())).collect()
    };
    let mut found = Vec::new();
    let batch = JobBatch { kind: "squares", run: "a run", jobs: numbers };
    run_in_order(grid, batch, &describe, read, |number, square| {
        assert_eq!(number, found.len());
        found.push(square);
        true
    })?;
    Ok(found)
}

fn wanted(numbers: u64) -> Vec<u64> {
    (0..numbers).map(|number| number * number).collect()
}

#[test]
fn all_pieces_are_done_once_by_several_workers() {
    let Some(server) = NatsServer::start() else { return };
    let asked = Arc::new(AtomicUsize::new(0));
    let workers = [worker(options(&server), &asked), worker(options(&server), &asked)];
    let grid = Grid::connect(&options(&server), silent()).unwrap();
    assert_eq!(squares(&grid, 200, b"secret").unwrap(), wanted(200));
    assert!(grid.status().starts_with("2 workers"), "{}", grid.status());
    // The same work again is done again: nothing of it was left behind.
    let before = asked.load(Ordering::SeqCst);
    assert_eq!(squares(&grid, 20, b"secret").unwrap(), wanted(20));
    assert!(asked.load(Ordering::SeqCst) > before);
    // No piece goes out when there is none.
    assert_eq!(squares(&grid, 0, b"secret").unwrap(), wanted(0));
    // Work that nobody can do ends with what the workers said.
    let error = squares(&grid, 5, b"no").unwrap_err().to_string();
    assert!(error.contains("this cannot be squared"), "{error}");
    // The workers go with the test.
    drop(workers);
}

/// A worker who acknowledges every job and answers with what it likes.
fn liar(address: String, version: &'static str, most: usize) -> JoinHandle<usize> {
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
            let jobs = consumer.batch().max_messages(most).expires(expires).messages().await;
            let mut jobs = jobs.unwrap();
            let mut lies = 0;
            while let Some(Ok(job)) = jobs.next().await {
                let of = |name: &str| {
                    job.headers.as_ref().unwrap().get(name).unwrap().as_str().to_owned()
                };
                let subject =
                    format!("outflank.results.{}.{}", of("Outflank-Run"), of("Outflank-Job"));
                let (content, sum) = match lies % 4 {
                    0 => (&b"nonsense"[..], checksum(b"nonsense")),
                    1 => (&b"12 6"[..], checksum(b"something else")),
                    2 => (&b"\xff\xfe"[..], checksum(b"\xff\xfe")),
                    _ => (&b""[..], checksum(b"")),
                };
                let mut headers = HeaderMap::new();
                headers.insert("Outflank-Version", version);
                headers.insert("Outflank-Worker", "liar");
                headers.insert("Outflank-Job", of("Outflank-Job").as_str());
                headers.insert("Outflank-Sha256", sum.as_str());
                for _ in 0..2 {
                    let (subject, headers) = (subject.clone(), headers.clone());
                    let ack = context.publish_with_headers(subject, headers, content.into()).await;
                    ack.unwrap().await.unwrap();
                }
                job.ack().await.unwrap();
                lies += 1;
            }
            lies
        })
    })
}

#[test]
fn nonsense_and_other_versions_are_refused_and_the_work_is_done_again() {
    let Some(server) = NatsServer::start() else { return };
    let (note, told) = notes();
    let grid = Grid::connect(&options(&server), note).unwrap();
    let liars = [liar(server.address(), "1.2.3", 8), liar(server.address(), "9.9.9", 3)];
    let other = Options { version: "9.9.9".to_owned(), ..options(&server) };
    let asked = Arc::new(AtomicUsize::new(0));
    let idle = worker(other, &asked);
    let honest = std::thread::spawn({
        let (options, done) = (options(&server), Arc::new(AtomicUsize::new(0)));
        move || {
            // Late enough that the liars come first.
            sleep(Duration::from_secs(2));
            worker(options, &done).join().unwrap();
        }
    });
    assert_eq!(squares(&grid, 60, b"secret").unwrap(), wanted(60));
    let lies: usize = liars.into_iter().map(|liar| liar.join().unwrap()).sum();
    assert!(lies > 0);
    let told = told.lock().unwrap();
    let count = |part: &str| told.iter().filter(|text| text.contains(part)).count();
    assert!(count("refused an answer of worker liar") >= lies, "{told:?}");
    assert!(count("of version 9.9.9, not 1.2.3") > 0, "{told:?}");
    assert!(count("gets no work from version 1.2.3") > 0, "{told:?}");
    assert_eq!(asked.load(Ordering::SeqCst), 0, "a worker of another version works for nobody");
    drop(told);
    drop((honest, idle));
}

#[test]
fn a_server_that_dies_and_even_loses_its_store_stops_nothing() {
    let Some(mut server) = NatsServer::start() else { return };
    let asked = Arc::new(AtomicUsize::new(0));
    let grid = Arc::new(Grid::connect(&options(&server), silent()).unwrap());
    let workers = [worker(options(&server), &asked), worker(options(&server), &asked)];
    let coordinator = std::thread::spawn({
        let grid = grid.clone();
        move || squares(&grid, 3000, b"secret").unwrap()
    });
    let reach = |jobs: usize| {
        while asked.load(Ordering::SeqCst) < jobs {
            sleep(Duration::from_millis(5));
        }
    };
    reach(10);
    server.kill();
    sleep(Duration::from_millis(300));
    server.start_again();
    let now = asked.load(Ordering::SeqCst);
    reach(now + 10);
    server.lose_store();
    server.start_again();
    assert_eq!(coordinator.join().unwrap(), wanted(3000));
    drop(workers);
}

#[test]
fn what_is_wrong_with_a_server_is_said_with_the_next_step() {
    let Some(plain) = NatsServer::with(&[]) else { return };
    let refused = |options: &Options| Grid::connect(options, silent()).unwrap_err().to_string();
    let error = refused(&options(&plain));
    assert!(error.contains("no JetStream") && error.contains("nats-server -js"), "{error}");
    let Some(closed) = NatsServer::with(&["-js", "--user", "me", "--pass", "secret"]) else {
        return;
    };
    let error = refused(&options(&closed));
    assert!(error.contains("refuses a connection without credentials"), "{error}");
    let user = Some(("me".to_owned(), "secret".to_owned()));
    Grid::connect(&Options { user, ..options(&closed) }, silent()).unwrap();
    let address = closed.address().replace("nats://", "nats://me:secret@");
    Grid::connect(&Options { address, ..options(&closed) }, silent()).unwrap();
    let gone = Options::new("nats://127.0.0.1:1", "1");
    let error = refused(&gone);
    assert!(error.contains("no NATS server answers") && error.contains("127.0.0.1:1"), "{error}");
    let odd = Options { queue: "a.b".to_owned(), ..options(&plain) };
    assert!(refused(&odd).contains("cannot be the name of a queue"));
    for address in ["http://x", "", "nats://", "nats://127.0.0.1:1,"] {
        let odd = Options { address: address.to_owned(), ..options(&plain) };
        let error = refused(&odd);
        assert!(error.contains("is not the address of a NATS server"), "{address}: {error}");
    }
    let address = plain.address().replace("nats://", "tls://");
    let error = refused(&Options { address, ..options(&plain) });
    assert!(error.contains("has no secure connections"), "{error}");
    let missing = Options { credentials: Some("none.creds".into()), ..options(&plain) };
    assert!(refused(&missing).contains("none.creds"));
}

#[test]
fn content_is_known_by_its_checksum() {
    let Some(server) = NatsServer::start() else { return };
    let grid = Grid::connect(&options(&server), silent()).unwrap();
    let large: Vec<u8> = (0..1_500_000u32).map(|i| (i % 251) as u8).collect();
    let mut names = BTreeMap::new();
    for content in [&b""[..], b"small", &large] {
        let name = grid.put(content).unwrap();
        assert_eq!(name, checksum(content));
        assert_eq!(grid.put(content).unwrap(), name);
        names.insert(name, content);
    }
    for (name, content) in names {
        assert!(grid.get(&name).unwrap() == content);
    }
    assert!(grid.get(&checksum(b"never shared")).is_err());
}
