-- +goose Up

-- Who is signed in to the console, by SHA-256 of the token in hex. No history.
CREATE TABLE console_sessions (
    hash       TEXT   NOT NULL PRIMARY KEY,
    name       TEXT   NOT NULL,
    via        TEXT   NOT NULL,
    role       TEXT   NOT NULL,
    stamp      TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    seen_at    BIGINT NOT NULL
);
