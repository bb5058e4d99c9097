import { randomUUID } from 'node:crypto';
import type { ChildRequest, ChildResponse } from '../processes/child-gateway.ts';
import { oslo, riverside, sodermalm } from '../requests/bookings.ts';

/* Notes, documents and schedules under a load in which gateways are killed. */

interface Load {
  pick<Item>(items: readonly Item[]): Item;
  count(what: string): void;
  reportViolation(text: string): void;
  /** Sends the request until it has a final response. `undefined`: given up. */
  settle(request: ChildRequest): Promise<ChildResponse<{ readonly id: string }> | undefined>;
  read(path: string): Promise<ChildResponse<unknown> | undefined>;
}

type Listed = Readonly<Record<string, unknown>> & { readonly id: string };

/** A kind of record: how it is created, and what tells two of them apart in the list. */
interface Kind {
  readonly name: string;
  /** The field of the list. */
  readonly field: string;
  path(careUnit: string): string;
  body(number: number): object;
  nameOf(listed: Listed): string;
  nameIn(number: number): string;
}

const dayMilliseconds = 24 * 60 * 60 * 1000;
const dayOf = (number: number) => new Date(Date.now() + (60 + number) * dayMilliseconds).toISOString().slice(0, 10);
/** Fewer than a resource can have. */
const mostSchedules = 90;

const kinds: readonly Kind[] = [
  {
    name: 'note',
    field: 'medical_notes',
    path: (careUnit) => `${careUnit}/patients/emr_id%3Ap-3/medical-notes`,
    body: (number) => ({ text: `note ${number}` }),
    nameIn: (number) => `note ${number}`,
    nameOf: ({ text }) => String(text),
  },
  {
    name: 'document',
    field: 'documents',
    path: (careUnit) => `${careUnit}/patients/emr_id%3Ap-3/documents`,
    body: (number) => ({
      title: `document ${number}`,
      content_type: 'text/plain',
      content: Buffer.from(`content ${number}`).toString('base64'),
    }),
    nameIn: (number) => `document ${number}`,
    nameOf: ({ title }) => String(title),
  },
  {
    name: 'schedule',
    field: 'schedules',
    path: (careUnit) => `${careUnit}/resources/r-1/schedules`,
    body: (number) => ({
      start_time: `${dayOf(number)}T20:00:00`,
      end_time: `${dayOf(number)}T20:30:00`,
      slot_minutes: 30,
      healthcare_service_ids: ['consultation'],
    }),
    nameIn: (number) => `${dayOf(number)}T20:00:00`,
    nameOf: ({ start }) => String(start).slice(0, 19),
  },
];

interface Written {
  readonly kind: Kind;
  readonly careUnit: string;
  readonly name: string;
  /** In the response. `undefined`: none yet. */
  id: string | undefined;
}

const careUnits = [oslo, sodermalm, riverside];

export function crashRecords({ pick, count, reportViolation, settle, read }: Load) {
  const written: Written[] = [];

  return {
    async write(): Promise<void> {
      const [kind, careUnit] = [pick(kinds), pick(careUnits)];
      const number = written.filter((it) => it.kind === kind && it.careUnit === careUnit).length + 1;
      if (kind.name === 'schedule' && number > mostSchedules) return;
      const record: Written = { kind, careUnit, name: kind.nameIn(number), id: undefined };
      written.push(record);
      const response = await settle({
        method: 'POST',
        path: kind.path(careUnit),
        body: kind.body(number),
        headers: { 'idempotency-key': randomUUID() },
      });
      if (!response) return;
      if (response.status !== 201) return reportViolation(`unexpected response to a ${kind.name}: ${response.text}`);
      count(`${kind.name}s`);
      record.id = response.body.id;
    },

    /** Every record with a response exists once, and no other record exists twice. */
    async compare(): Promise<void> {
      for (const kind of kinds) {
        for (const careUnit of careUnits) {
          const found = Map.groupBy(await list(kind, careUnit), kind.nameOf);
          for (const { name, id } of written.filter((it) => it.kind === kind && it.careUnit === careUnit)) {
            const ids = (found.get(name) ?? []).map((it) => it.id);
            if (ids.length > 1) reportViolation(`${kind.name} ${name} exists ${ids.length} times`);
            else if (id !== undefined && ids[0] !== id) reportViolation(`lost: ${kind.name} ${name}`);
            else count(`${kind.name}s match`);
          }
        }
      }
    },
  };

  async function list({ path, field }: Kind, careUnit: string): Promise<Listed[]> {
    const found: Listed[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const query: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const response = await read(`${path(careUnit)}?limit=100${query}`);
      const page = (response?.body ?? {}) as Readonly<Record<string, readonly Listed[]>> & { next_cursor?: string };
      found.push(...(page[field] ?? []));
      cursor = page.next_cursor ?? null;
    }
    return found;
  }
}
