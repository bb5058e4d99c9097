import { existsSync, globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string) => readFileSync(`${root}${path}`, 'utf8');

interface Row {
  readonly folder: string;
  readonly tables: readonly string[];
  /** Other folders that write a table. */
  readonly elsewhere: ReadonlyMap<string, readonly string[]>;
}

const rows = [
  ...read('docs/architecture/database.md').matchAll(/^\| \[.+?\]\(\.\.\/\.\.\/(.+?)\) \| (.+?) \|(.*)\|$/gm),
].map(([, folder = '', tables = '', elsewhere = '']): Row => {
  const folders = foldersOf(elsewhere);
  return { folder, tables: namesIn(tables), elsewhere: new Map(namesIn(elsewhere).map((name) => [name, folders])) };
});
const documented = rows.flatMap(({ tables }) => tables);

function namesIn(cell: string): string[] {
  return [...cell.matchAll(/`([a-z_.]+)`/g)].map(([, name = '']) => name);
}

function foldersOf(cell: string): string[] {
  return [...cell.matchAll(/\]\(\.\.\/\.\.\/(.+?)\)/g)].map(([, folder = '']) => folder);
}

/** The tables that the migrations leave behind, without partitions. */
function tablesOfMigrations(): Set<string> {
  const tables = new Set(['schema_migrations']);
  for (const path of globSync(['server/src/db/migrations/*.sql', 'connectors/*/src/migrations/*.sql'], {
    cwd: root,
  }).sort()) {
    const statements = /^(CREATE (?:UNLOGGED )?TABLE|DROP TABLE)(?: IF (?:NOT )?EXISTS)? ([a-z_.]+)(?! PARTITION)\b/gm;
    for (const [, verb, name = ''] of read(path).matchAll(statements)) {
      if (verb === 'DROP TABLE') tables.delete(name);
      else tables.add(name);
    }
  }
  return tables;
}

/** The folders of `server/src` with a statement that writes the table. */
function writersOf(table: string): string[] {
  const builder = new RegExp(`(insertInto|updateTable|deleteFrom)\\(\\s*'${table}( as \\w+)?'`);
  const statement = new RegExp(`(INSERT INTO|UPDATE|DELETE FROM)\\s+${table}\\b`);
  const writing = sources.filter(({ text }) => builder.test(text) || statement.test(text));
  return [...new Set(writing.map(({ folder }) => folder))].sort();
}

const sources = globSync('server/src/*/**/*.ts', { cwd: root })
  .filter((path) => !/(^|\/)test-|\.test\.ts$/.test(path))
  .map((path) => ({ folder: path.split('/').slice(0, 3).join('/'), text: read(path) }));

test('each table that the migrations create belongs to one folder', () => {
  expect(documented.toSorted()).toEqual([...tablesOfMigrations()].sort());
  expect(rows.filter(({ folder }) => !existsSync(`${root}${folder}`))).toEqual([]);
});

test.each(rows.filter(({ folder }) => folder.startsWith('server/')))('only $folder writes its tables', (row) => {
  for (const table of row.tables) {
    const others = row.elsewhere.get(table) ?? [];
    const writers = writersOf(table);
    // Some are written by functions of the database alone.
    const expected = writers.length === 0 ? [] : [row.folder, ...others].sort();
    expect(writers, table).toEqual(expected);
  }
});
