-- +goose Up

-- The last number that a record got. Numbers are never used again.
CREATE TABLE audit_head (seq BIGINT NOT NULL);
INSERT INTO audit_head (seq) VALUES (0);

-- How far each spool is imported.
CREATE TABLE audit_imports (
    spool   TEXT   NOT NULL PRIMARY KEY,
    segment BIGINT NOT NULL,
    place   BIGINT NOT NULL
);

CREATE TABLE audit (
    seq        INTEGER NOT NULL PRIMARY KEY,
    time       BIGINT  NOT NULL,
    request_id TEXT    NOT NULL,
    kind       TEXT    NOT NULL,
    outcome    TEXT    NOT NULL,
    code       TEXT    NOT NULL,
    status     BIGINT  NOT NULL,
    key        TEXT    NOT NULL,
    team       TEXT    NOT NULL,
    model      TEXT    NOT NULL,
    route      TEXT    NOT NULL,
    provider   TEXT    NOT NULL,
    data       TEXT    NOT NULL
);

CREATE INDEX audit_request ON audit (request_id, seq) WHERE request_id <> '';
CREATE INDEX audit_key ON audit (key, seq) WHERE key <> '';
CREATE INDEX audit_key_failed ON audit (key, seq) WHERE key <> '' AND outcome <> 'allow';
CREATE INDEX audit_failed ON audit (outcome, seq) WHERE outcome <> 'allow';
CREATE INDEX audit_code ON audit (code, seq) WHERE code <> '';

-- Blocks of 512 neighbouring records, with the times that are in them, and with
-- each text that a searched column has in them and between which records. They
-- lead a search by time, provider, model and so on to the records worth
-- reading, for a fraction of what an index of each column costs an import.
CREATE TABLE audit_blocks (
    block    INTEGER NOT NULL PRIMARY KEY,
    min_time BIGINT  NOT NULL,
    max_time BIGINT  NOT NULL
);

CREATE TABLE audit_terms (
    field     TEXT   NOT NULL,
    value     TEXT   NOT NULL,
    block     BIGINT NOT NULL,
    first_seq BIGINT NOT NULL,
    last_seq  BIGINT NOT NULL,
    PRIMARY KEY (field, value, block)
) WITHOUT ROWID;

CREATE UNIQUE INDEX audit_terms_block ON audit_terms (block, field, value);
