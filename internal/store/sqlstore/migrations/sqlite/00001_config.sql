-- +goose Up

-- Every accepted change of the configuration, from 1, without gaps.
CREATE TABLE revisions (
    number  BIGINT NOT NULL PRIMARY KEY,
    at      BIGINT NOT NULL,
    actor   TEXT   NOT NULL,
    summary TEXT   NOT NULL,
    changes TEXT   NOT NULL
);

-- Every state that an object ever had. It was valid from from_rev until before
-- to_rev; what has no to_rev is current.
CREATE TABLE documents (
    kind       TEXT   NOT NULL,
    name       TEXT   NOT NULL,
    name_key   TEXT   NOT NULL, -- the name, in lower case where case does not count
    id         TEXT   NOT NULL,
    version    BIGINT NOT NULL,
    owner      TEXT   NOT NULL,
    source     TEXT   NOT NULL,
    spec       TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    from_rev   BIGINT NOT NULL REFERENCES revisions (number),
    to_rev     BIGINT          REFERENCES revisions (number),
    PRIMARY KEY (kind, name, from_rev),
    CHECK (to_rev > from_rev)
);

CREATE UNIQUE INDEX documents_current ON documents (kind, name_key) WHERE to_rev IS NULL;
CREATE UNIQUE INDEX documents_id ON documents (kind, id) WHERE to_rev IS NULL AND id <> '';
CREATE INDEX documents_ended ON documents (to_rev) WHERE to_rev IS NOT NULL;

-- The secrets of keys, as SHA-256 in hex. No history: a revocation is final.
CREATE TABLE key_secrets (
    hash       TEXT   NOT NULL PRIMARY KEY,
    key_id     TEXT   NOT NULL,
    last4      TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    ends_at    BIGINT,
    revoked_at BIGINT
);
