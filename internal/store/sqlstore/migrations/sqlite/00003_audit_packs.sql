-- +goose Up

-- Audit records in packs of at most 512 neighbouring numbers; seq is that of
-- the first record when the row was made. The pack that is being filled has
-- several rows. cols and data are compressed, see pack.go.
CREATE TABLE audit_packs (
    seq      INTEGER NOT NULL PRIMARY KEY,
    min_time BIGINT  NOT NULL,
    max_time BIGINT  NOT NULL,
    cols     BLOB    NOT NULL,
    data     BLOB    NOT NULL
);

-- Groups of 64 packs that are full, with the times that are in them.
CREATE TABLE audit_groups (
    grp      INTEGER NOT NULL PRIMARY KEY,
    min_time BIGINT  NOT NULL,
    max_time BIGINT  NOT NULL
);

-- Hashes of the texts in the searched columns of a group, in parts, each with
-- the places of the records that have it, see words.go. They lead a search to
-- the packs worth reading.
CREATE TABLE audit_words (
    grp   BIGINT NOT NULL,
    part  BIGINT NOT NULL,
    words BLOB   NOT NULL,
    PRIMARY KEY (grp, part)
);

-- The records of the tables audit, audit_blocks and audit_terms are moved by
-- migration 4, which is a program.
