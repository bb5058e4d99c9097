import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { FhirResource } from '../fhir.ts';
import { openCursor } from './change-cursor.ts';
import { readVersions } from './read-versions.ts';

const start = Date.parse('2030-01-01T00:00:00Z');
const minute = 60_000;

/** A server with versions of resources. `between` runs after a page was read. */
function createServer({ pageSize = 100, wholeSeconds = false, sorts = true, now = start + 60 * minute } = {}) {
  const versions = new Map<string, number>();
  let next = JSON.stringify({ since: start, seen: [] });
  const server = {
    between: () => {},
    save: (id: string, at: number) => void versions.set(id, wholeSeconds ? Math.floor(at / 1000) * 1000 : at),
    remove: (id: string) => void versions.delete(id),
    /** Reads until there is nothing more. Returns the ids. */
    async readAll(): Promise<string[]> {
      const ids: string[] = [];
      for (let calls = 0; calls <= versions.size + 1; calls++) {
        const cursor = openCursor(next);
        const read = await readVersions(pages(cursor.since), cursor, now);
        ids.push(...read.found.map(({ id }) => id ?? ''));
        next = JSON.stringify(read.position);
        if (!read.hasMore) return ids;
      }
      throw new Error('Reading does not end');
    },
  };

  async function* pages(since: number) {
    for (let offset = 0; ; offset += pageSize) {
      const found = [...versions].filter(([, at]) => at >= since);
      if (sorts) found.sort(([a, aAt], [b, bAt]) => aAt - bAt || (a < b ? -1 : 1));
      yield { resources: found.slice(offset, offset + pageSize).map(resource), sorted: true };
      if (offset + pageSize >= found.length) return;
      server.between();
    }
  }
  return server;
}

function resource([id, at]: readonly [string, number]): FhirResource {
  return { resourceType: 'Appointment', id, meta: { versionId: '1', lastUpdated: new Date(at).toISOString() } };
}

describe('versions', () => {
  const pageSize = fc.integer({ min: 50, max: 300 });
  const options = fc.record({ pageSize, wholeSeconds: fc.boolean() });

  test('are all read once, whatever arrives at an instant and however many fit on a page', async () => {
    const batch = fc.record({
      pause: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 3 * minute })),
      count: fc.oneof(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 900, max: 1_300 })),
      /** Milliseconds between two versions. */
      spacing: fc.constantFrom(0, 1, 50),
    });
    await fc.assert(
      fc.asyncProperty(options, fc.array(batch, { maxLength: 5 }), async (given, batches) => {
        const server = createServer(given);
        const saved: string[] = [];
        const read: string[] = [];
        let at = start;
        for (const { pause, count, spacing } of batches) {
          at += pause;
          for (let number = 0; number < count; number++, at += spacing) {
            const id = `v-${saved.length}`;
            server.save(id, at);
            saved.push(id);
          }
          read.push(...(await server.readAll()));
        }
        expect(read.toSorted()).toEqual(saved.toSorted());
        expect(await server.readAll()).toEqual([]);
      }),
      { numRuns: 15 },
    );
  });

  test('are read although they appear up to two minutes late', async () => {
    const late = fc.record({
      pause: fc.integer({ min: 0, max: minute }),
      lateness: fc.integer({ min: 0, max: 2 * minute }),
    });
    await fc.assert(
      fc.asyncProperty(options, fc.array(late, { maxLength: 100 }), async (given, versions) => {
        const server = createServer({ ...given, pageSize: Math.ceil(given.pageSize / 10) });
        const read: string[] = [];
        let now = start + 2 * minute;
        for (const [number, { pause, lateness }] of versions.entries()) {
          now += pause;
          server.save(`v-${number}`, now - lateness);
          read.push(...(await server.readAll()));
        }
        expect(read).toEqual(versions.map((_, number) => `v-${number}`));
      }),
      { numRuns: 40 },
    );
  });

  test('of the future do not hide the present', async () => {
    const server = createServer({ now: start + 10 * minute });
    server.save('future', start + 24 * 60 * minute);
    expect(await server.readAll()).toEqual(['future']);
    server.save('present', start + 11 * minute);
    expect(await server.readAll()).toEqual(['present']);
    expect(await server.readAll()).toEqual([]);
  });

  test('that move to another page while a resource changes are read the next time', async () => {
    const server = createServer({ pageSize: 2 });
    for (const [seconds, id] of ['a', 'b'].entries()) server.save(id, start + seconds * 1_000);
    await server.readAll();
    for (const [minutes, id] of ['c', 'd', 'e'].entries()) server.save(id, start + (10 + 5 * minutes) * minute);
    let isFirst = true;
    server.between = () => {
      if (!isFirst) return;
      isFirst = false;
      server.remove('a');
      server.save('a-2', start + 30 * minute);
    };
    expect((await server.readAll()).toSorted()).toEqual(['a-2', 'c', 'd', 'e']);
  });

  test('are all read, and told the oldest first, from a server that repeats _sort without sorting', async () => {
    const server = createServer({ pageSize: 3, sorts: false });
    const minutes = [30, 20, 10, 0, 5, 15];
    for (const at of minutes) server.save(`v-${at}`, start + at * minute);
    expect(await server.readAll()).toEqual(['v-0', 'v-5', 'v-10', 'v-15', 'v-20', 'v-30']);
  });
});
