import { type CompiledQuery, type QueryResult, sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { type Runner, statementsOf } from './statement.ts';

interface Tables {
  people: { id: string; name: string | null };
}

const statement = statementsOf<Tables>();

/** Keeps the queries that it is given. */
function recorder(): Runner & { readonly queries: CompiledQuery[] } {
  const queries: CompiledQuery[] = [];
  return {
    queries,
    async executeQuery<Row>(query: CompiledQuery<Row>): Promise<QueryResult<Row>> {
      queries.push(query);
      return { rows: [] };
    },
  };
}

describe('a statement', () => {
  test('gets the values of each execution, in the order of the text', async () => {
    const rename = statement((db, { id, name }: { id: string; name: string }) =>
      db.updateTable('people').set({ name }).where('id', '=', id).where('name', 'is distinct from', name),
    );
    const db = recorder();
    await rename(db, { id: '1', name: 'Kari' });
    await rename(db, { name: 'Ola', id: '2' });
    expect(db.queries.map(({ parameters }) => parameters)).toEqual([
      ['Kari', '1', 'Kari'],
      ['Ola', '2', 'Ola'],
    ]);
  });

  test('is built once', async () => {
    let built = 0;
    const find = statement((db, { id }: { id: string }) => {
      built++;
      return db.selectFrom('people').selectAll().where('id', '=', id);
    });
    const db = recorder();
    for (const id of ['1', '2', '3']) await find(db, { id });
    expect(built).toBe(1);
    expect(new Set(db.queries.map((query) => query.sql)).size).toBe(1);
  });

  test('can be SQL text, with constants and with null and lists as values', async () => {
    const find = statement(
      (_db, { ids, name }: { ids: readonly string[]; name: string | null }) =>
        sql<{ id: string }>`SELECT id FROM people WHERE id = ANY(${ids}::text[]) AND name = ${name} AND id <> ${'x'}`,
    );
    const db = recorder();
    await find(db, { ids: ['1', '2'], name: null });
    expect(db.queries[0]?.sql).toBe('SELECT id FROM people WHERE id = ANY($1::text[]) AND name = $2 AND id <> $3');
    expect(db.queries[0]?.parameters).toEqual([['1', '2'], null, 'x']);
  });
});
