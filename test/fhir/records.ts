import type { FakeServer } from '../../connectors/fhir-r4/fake/server.ts';
import type { FhirDocumentReference, FhirResource, FhirSchedule, FhirSlot } from '../../connectors/fhir-r4/src/fhir.ts';
import type { FhirSettings } from '../../connectors/fhir-r4/src/settings.ts';
import type { ProxiedRequest } from '../ehrs/fault-proxy.ts';
import { careUnitPath } from '../ehrs/other-ehrs.ts';
import { type Gateway, type GatewayResponse, startGateway } from '../gateway/gateway.ts';
import { withQuickRecovery } from '../gateway/recovery.ts';
import { documentsOf } from '../requests/documents.ts';
import { fhirEhr, withEhrs } from './fhir-ehr.ts';

/* Writes of notes, documents and schedules in front of our own FHIR server. */

const north = careUnitPath('fhir', 'north');
const notesPath = `${north}/patients/p-1/medical-notes`;
const documentsPath = documentsOf('p-1', north);
const schedulesPath = `${north}/resources/r-1/schedules`;

export function startFhirGateway(url: string, settings: Partial<FhirSettings> = {}): Promise<Gateway> {
  return startGateway({
    configure: (demo) =>
      withQuickRecovery(withEhrs(demo, [fhirEhr('fhir', { url }, settings)]), { settling_seconds: 2 }),
  });
}

export type RecordResponse = GatewayResponse<{ readonly id: string; readonly reason?: string }>;

/** A write of one record, and what it leaves in the server. */
export interface RecordWrite {
  readonly path: string;
  readonly body: object;
  /** The status of its response. */
  readonly status: number;
  /** The request to the server that creates or changes the record. */
  isWrite(request: ProxiedRequest): boolean;
  /** How often the write shows in the server. */
  count(): number;
  /** Changes the record as the staff would. */
  change(): void;
  isChanged(): boolean;
}

export function send(gateway: Gateway, { path, body }: RecordWrite, key?: string): Promise<RecordResponse> {
  return gateway.request('POST', path, { body, headers: key === undefined ? {} : { 'idempotency-key': key } });
}

const posts =
  (path: string) =>
  ({ method, path: to }: ProxiedRequest) =>
    method === 'POST' && to === path;

function documentWrite(
  { store }: FakeServer,
  path: string,
  body: object,
  isOurs: (it: FhirDocumentReference) => boolean,
): RecordWrite {
  const standing = () =>
    (store.all('DocumentReference') as unknown as FhirDocumentReference[]).filter(
      (it) => isOurs(it) && it.status !== 'entered-in-error',
    );
  const byStaff = 'By the staff';
  return {
    path,
    body,
    status: 201,
    isWrite: posts('/DocumentReference'),
    count: () => standing().length,
    change() {
      const [document] = standing();
      store.save({ ...document, description: byStaff } as unknown as FhirResource);
    },
    isChanged: () => standing().some(({ description }) => description === byStaff),
  };
}

let written = 0;

export function noteWrite(server: FakeServer): RecordWrite {
  const text = `Seen ${++written} times`;
  const data = Buffer.from(text).toString('base64');
  return documentWrite(server, notesPath, { text }, ({ content }) => content?.[0]?.attachment?.data === data);
}

export function fileWrite(server: FakeServer): RecordWrite {
  const bytes = Buffer.from(`File ${++written}`);
  const body = { content_type: 'text/plain', content: bytes.toString('base64') };
  return documentWrite(server, documentsPath, body, ({ content }) => {
    const url = content?.[0]?.attachment?.url;
    const binary = url === undefined ? undefined : server.store.all('Binary').find(({ id }) => url === `Binary/${id}`);
    return binary?.data === bytes.toString('base64');
  });
}

let weeks = 0;

/** A schedule in the evening of two days. Each is in another week. */
export function scheduleWrite({ store }: FakeServer): RecordWrite {
  const at = new Date(Date.now() + 7 * ++weeks * 24 * 60 * 60 * 1000);
  const day = at.toISOString().slice(0, 10);
  const body = {
    start_time: `${day}T18:00:00`,
    end_time: `${day}T19:00:00`,
    slot_minutes: 30,
    healthcare_service_ids: ['consultation'],
    recurrence: 'FREQ=DAILY;COUNT=2',
  };
  const standing = () => schedulesOf(store).filter((it) => startOf(it) === body.start_time && it.active !== false);
  const slots = () => standing().flatMap((it) => slotsOf(store, it));
  return {
    path: schedulesPath,
    body,
    status: 201,
    isWrite: posts('/Schedule'),
    // Each schedule with its four slots.
    count: () => slots().length / 4,
    change() {
      const [slot] = slots();
      store.save({ ...slot, status: 'busy' } as unknown as FhirResource);
    },
    isChanged: () => slots().some(({ status }) => status === 'busy'),
  };
}

/** Takes the second day out of a new schedule. */
export async function scheduleChange(
  gateway: Gateway,
  server: FakeServer,
  kind: 'end' | 'exceptions',
): Promise<RecordWrite> {
  const { store } = server;
  const creation = scheduleWrite(server);
  const { body: schedule, status, text } = await send(gateway, creation);
  if (status !== 201) throw new Error(`The schedule was not created: ${text}`);
  const { start_time: start } = creation.body as { start_time: string };
  const second = new Date(Date.parse(`${start}Z`) + 24 * 60 * 60 * 1000).toISOString().slice(0, 10);
  const third = new Date(Date.parse(`${second}T00:00:00Z`) + 24 * 60 * 60 * 1000).toISOString().slice(0, 10);
  const resource = () => store.get(`Schedule/${schedule.id}`) as unknown as FhirSchedule;
  const from = `${second}T00:00:00`;
  return {
    path: `${schedulesPath}/${schedule.id}/${kind}`,
    body: kind === 'end' ? { end_time: from } : { start_time: from, end_time: `${third}T00:00:00` },
    status: 200,
    isWrite: ({ method, path, body }) => method === 'POST' && path === '/' && body.includes(schedule.id),
    // Both slots of the second day, and the record of the change.
    count() {
      const removed = slotsOf(store, resource()).filter((it) => it.status === 'busy-unavailable').length / 2;
      const part = kind === 'end' ? 'ended' : 'exception';
      const recorded = ownParts(resource()).filter(({ url }) => url === part).length;
      return removed === recorded ? recorded : Number.NaN;
    },
    change() {
      store.save({ ...resource(), comment: 'By the staff' } as unknown as FhirResource);
    },
    isChanged: () => 'comment' in resource(),
  };
}

function schedulesOf(store: FakeServer['store']): FhirSchedule[] {
  return store.all('Schedule') as unknown as FhirSchedule[];
}

function ownParts({ extension }: FhirSchedule) {
  return extension?.find(({ url }) => url === 'urn:crossward:schedule')?.extension ?? [];
}

function startOf(schedule: FhirSchedule): string | undefined {
  return ownParts(schedule).find(({ url }) => url === 'start')?.valueString;
}

function slotsOf(store: FakeServer['store'], { id }: FhirSchedule): FhirSlot[] {
  return (store.all('Slot') as unknown as FhirSlot[]).filter((it) => it.schedule?.reference === `Schedule/${id}`);
}
