//! NATS credentials: an operator signs accounts, an account signs users, and a user proves possession of the
//! key of its token.

use data_encoding::BASE64URL_NOPAD;
use nkeys::{KeyPair, KeyPairType};
use serde_json::{Value, json};

/// An operator with two accounts: one with JetStream, and the system account.
pub struct Operator {
    operator: KeyPair,
    account: KeyPair,
    system: KeyPair,
}

impl Operator {
    /// Derives all keys from a number.
    pub fn new(number: u8) -> Operator {
        Operator {
            operator: key(KeyPairType::Operator, number),
            account: key(KeyPairType::Account, number + 1),
            system: key(KeyPairType::Account, number + 2),
        }
    }

    /// The configuration of a server that trusts only this operator.
    pub fn config(&self) -> String {
        let limits = |streams: i64| {
            json!({
                "subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1,
                "wildcards": true, "conn": -1, "leaf": -1, "mem_storage": streams,
                "disk_storage": streams, "streams": streams, "consumer": streams,
            })
        };
        let account = |account: &KeyPair, streams| {
            let nats = json!({ "type": "account", "version": 2, "limits": limits(streams) });
            format!("{}: {}", account.public_key(), token(&self.operator, account, nats, None))
        };
        let own = json!({ "type": "operator", "version": 2 });
        format!(
            "operator: {}\nsystem_account: {}\nresolver: MEMORY\nresolver_preload: {{\n{}\n{}\n}}\n",
            token(&self.operator, &self.operator, own, None),
            self.system.public_key(),
            account(&self.account, -1),
            account(&self.system, 0),
        )
    }

    /// Credentials of a user of the account with JetStream, with an optional expiry as a Unix time.
    pub fn user(&self, number: u8, until: Option<u64>) -> String {
        credentials(&self.account, number, until)
    }

    /// Credentials of a user of the system account.
    pub fn user_without_streams(&self, number: u8) -> String {
        credentials(&self.system, number, None)
    }
}

fn credentials(account: &KeyPair, number: u8, until: Option<u64>) -> String {
    let user = key(KeyPairType::User, number);
    let nats = json!({ "type": "user", "version": 2, "subs": -1, "data": -1, "payload": -1 });
    format!(
        "-----BEGIN NATS USER JWT-----\n{}\n------END NATS USER JWT------\n\n\
         -----BEGIN USER NKEY SEED-----\n{}\n------END USER NKEY SEED------\n",
        token(account, &user, nats, until),
        user.seed().expect("a seed"),
    )
}

fn key(kind: KeyPairType, number: u8) -> KeyPair {
    KeyPair::new_from_raw(kind, [number; 32]).expect("a key")
}

/// A JWT about a key, signed by another.
fn token(from: &KeyPair, about: &KeyPair, nats: Value, until: Option<u64>) -> String {
    let (from_name, about_name) = (from.public_key(), about.public_key());
    let mut claims = json!({ "jti": about_name, "iat": 1, "iss": from_name, "sub": about_name,
                             "name": "test", "nats": nats });
    if let Some(until) = until {
        claims["exp"] = json!(until);
    }
    let part = |value: Value| BASE64URL_NOPAD.encode(value.to_string().as_bytes());
    let head = part(json!({ "typ": "JWT", "alg": "ed25519-nkey" }));
    let text = format!("{head}.{}", part(claims));
    let signature = from.sign(text.as_bytes()).expect("a signature");
    format!("{text}.{}", BASE64URL_NOPAD.encode(&signature))
}
