import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { childOf, childrenOf, readXml, textOf, type XmlElement } from '@crossward/connector-kit/soap';
import { Temporal } from 'temporal-polyfill';
import {
  codeRecords,
  type FakeRecord,
  newDemographics,
  providerRecords,
  templates,
  timeZone,
  typeRecords,
} from './data.ts';

const soap = 'http://schemas.xmlsoap.org/soap/envelope/';
const namespace = 'http://ws.oscarehr.org/';
const wsse = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd';
const second = 1000;

export const password = 'secret';

/** Columns, and how many characters they have room for. More are cut. */
const columns: Readonly<Record<string, number>> = {
  ...{
    providerNo: 6,
    name: 50,
    notes: 255,
    reason: 80,
    location: 30,
    resources: 255,
    type: 50,
    style: 10,
    billing: 10,
  },
  ...{ status: 2, remarks: 50, urgency: 30, bookingSource: 32, demographicNo: 10, programId: 10 },
};
const times = ['appointmentStartDateTime', 'appointmentEndDateTime'];
const ofServer = ['id', 'createDateTime', 'updateDateTime', 'creator', 'lastUpdateUser'];

/** A row: a date and wall-clock times without a zone. */
export interface FakeRow {
  readonly id: number;
  date: string;
  startTime: string;
  endTime: string;
  fields: FakeRecord;
  creator: string;
  created: number;
  updated: number;
}

interface FakeOptions {
  /** How the database brings times to whole seconds. */
  readonly seconds?: 'cut' | 'rounded';
}
type Calls = { readonly operation: string };
class Fault extends Error {
  readonly code: string;
  constructor(text: string, code = 'soap:Server') {
    super(text);
    this.code = code;
  }
}

/** A server that behaves as OSCAR does: it checks no conflict, writes whole rows, and archives what it overwrites. */
export type FakeOscar = Awaited<ReturnType<typeof startFake>>;

export async function startFake({ seconds = 'cut' }: FakeOptions = {}) {
  const demographics = newDemographics();
  const rows = new Map<number, FakeRow>();
  const archive: (FakeRow & { archiveId: number })[] = [];
  const holidays = new Set<string>();
  /** Of `provider date`. Otherwise: Day. `null`: no row in the table of dates. */
  const scheduled = new Map<string, string | null>();
  const seen: string[] = [];
  let lastId = 1000;
  let starts = 1;
  const controls = {
    /** Records as they are sent. @param owner the provider, of a time slot */
    spoil: (_type: string, record: FakeRecord, _owner?: string): FakeRecord => record,
    /** Its clock. */
    clock: () => Date.now(),
    /** Runs before the server looks at a call. */
    arrives: async (_call: Calls): Promise<void> => undefined,
    /** Runs in an update between reading the row and archiving it. */
    loaded: async (): Promise<void> => undefined,
    /** `cut`: does it, and does not answer. */
    misbehave: (_call: Calls): 'cut' | readonly [status: number, text: string] | undefined => undefined,
  };

  const wallOf = (instant: number) => Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(timeZone);
  const stored = (wall: Temporal.ZonedDateTime) => {
    const whole = seconds === 'cut' ? 'trunc' : 'halfExpand';
    return wall.toPlainTime().round({ smallestUnit: 'second', roundingMode: whole }).toString();
  };
  /** Of a time that the clocks show twice, Java takes the second. */
  const instantOf = (date: string, time: string) =>
    Temporal.PlainDateTime.from(`${date}T${time}`).toZonedDateTime(timeZone, { disambiguation: 'later' })
      .epochMilliseconds;
  const iso = (instant: number) => new Date(instant).toISOString().replace('.000Z', 'Z');
  const stamp = () => Math.floor(controls.clock() / second) * second;

  function rowRecord(row: FakeRow, id = row.id): FakeRecord {
    return {
      ...{ id, ...row.fields, creator: row.creator, lastUpdateUser: '900001' },
      appointmentStartDateTime: iso(instantOf(row.date, row.startTime)),
      appointmentEndDateTime: iso(instantOf(row.date, row.endTime)),
      createDateTime: iso(row.created),
      updateDateTime: iso(row.updated),
    };
  }

  /** As `AppointmentTransfer.copyTo`: a field that was not sent becomes null, the end is a millisecond earlier. */
  function copyTo(row: Pick<FakeRow, 'date' | 'startTime' | 'endTime' | 'fields'>, sent: XmlElement): void {
    for (const { name } of sent.children) {
      const isKnown = name in columns || times.includes(name) || ofServer.includes(name);
      if (!isKnown) throw new Fault(`Unmarshalling Error: unexpected element (uri:"", local:"${name}")`, 'soap:Client');
    }
    const [start, end] = times.map((name) => Date.parse(textOf(sent, '', name) ?? ''));
    row.fields = Object.fromEntries(
      Object.entries(columns).map(([name, length]) => {
        const text = childOf(sent, '', name)?.text ?? (name === 'programId' || name === 'demographicNo' ? '0' : null);
        // Without strict mode, a text ends before the first character of four bytes.
        return [name, text && (text.slice(0, length).split(/[\u{10000}-\u{10FFFF}]/u)[0] ?? '')];
      }),
    );
    if (start) [row.date, row.startTime] = [wallOf(start).toPlainDate().toString(), stored(wallOf(start))];
    if (end) row.endTime = stored(wallOf(end - 1));
  }

  const archived = (row: FakeRow) => void archive.push({ ...row, fields: { ...row.fields }, archiveId: ++lastId });
  const mustHave = <Value>(value: Value | undefined | null): Value => {
    if (value === undefined || value === null) throw new Fault('java.lang.NullPointerException');
    return value;
  };
  /** In an order that says nothing. */
  const shuffled = <Item>(items: readonly Item[]) => items.toSorted(() => Math.random() - 0.5);
  const sentRows = (found: readonly FakeRow[]) => found.map((it) => controls.spoil('appointment', rowRecord(it)));
  const pause = () => new Promise((resolve) => setTimeout(resolve, 1));

  async function addAppointment(sent: XmlElement): Promise<FakeRow> {
    const now = stamp();
    const row = {
      id: ++lastId,
      date: '',
      startTime: '',
      endTime: '',
      fields: {},
      creator: 'gateway',
      created: now,
      updated: now,
    };
    copyTo(row, sent);
    await pause();
    rows.set(row.id, row);
    return row;
  }

  async function updateAppointment(sent: XmlElement): Promise<void> {
    const id = Number(textOf(sent, '', 'id'));
    const loaded = { ...mustHave(rows.get(id)) };
    copyTo(loaded, sent);
    await pause();
    await controls.loaded();
    archived(mustHave(rows.get(id)));
    rows.set(id, { ...loaded, updated: stamp() });
  }

  function dayWorkSchedule(provider: string, instant: number): string[] {
    const midnight = wallOf(instant).startOfDay();
    const date = midnight.toPlainDate().toString();
    const name = scheduled.get(`${provider} ${date}`);
    if (name === null) return [];
    const timecode = templates[name ?? 'Day'] ?? '';
    const minutes = timecode ? 1440 / timecode.length : null;
    const slots = [...timecode].flatMap((character, index) => {
      if (character === '_') return [];
      // Elapsed minutes, so that the times are wrong on the days on which the clocks change.
      const at = midnight.add({ minutes: index * (minutes ?? 0) });
      const text = at.toString({ timeZoneName: 'never', smallestUnit: 'second' });
      const slot = controls.spoil('timeSlot', { date: text, scheduleCode: character.charCodeAt(0) }, provider);
      return [`<timeSlots>${xmlOf(slot)}</timeSlots>`];
    });
    const holiday = holidays.has(date) && midnight.epochMilliseconds === instant;
    return [`${xmlOf({ holiday: String(holiday), timeSlotDurationMin: minutes })}${slots.join('')}`];
  }

  function searchPatients(args: readonly (string | undefined)[]): FakeRecord[] {
    const [hin = '', start = '0', count = '0'] = [args[0], args[10], args[11]];
    const pattern = new RegExp(hin.replaceAll('%', '.*').replaceAll('_', '.'), 'i');
    const found = shuffled([...demographics.values()].filter((it) => pattern.test(String(it.hin))));
    return found.slice(Number(start), Number(start) + Number(count)).map((it) => controls.spoil('demographic', it));
  }

  const updatedAfter = <Row extends FakeRow>(
    all: Iterable<Row>,
    after: string | undefined,
    count: string | undefined,
  ) => {
    if (Number(count) > 5000) throw new Fault('too many items');
    const found = shuffled([...all]).filter(({ updated }) => updated > Date.parse(after ?? ''));
    return found.sort((a, b) => a.updated - b.updated).slice(0, Number(count));
  };

  /** The content of each `return`. */
  async function run(operation: string, call: XmlElement, user: string): Promise<string[]> {
    const args = Array.from({ length: 12 }, (_, index) => textOf(call, '', `arg${index}`));
    const [first, then, third] = args;
    const records = (found: readonly FakeRecord[]) => found.map(xmlOf);
    const transfer = () => mustHave(childOf(call, '', 'arg0'));
    const here = (row: FakeRow) => row.fields.providerNo === third;
    const day = (instant: string | undefined) =>
      wallOf(Date.parse(instant ?? ''))
        .toPlainDate()
        .toString();
    const { offsetNanoseconds } = wallOf(Date.now());
    switch (operation) {
      case 'getServerTime':
        return [wallOf(controls.clock()).toString({ timeZoneName: 'never' })];
      case 'getServerTimeGmtOffset':
        return [String(offsetNanoseconds / 1_000_000)];
      case 'getLoggedInProviderTransfer':
        return records(providerRecords.slice(3));
      case 'getProviders2':
        return records(providerRecords.map((it) => controls.spoil('provider', it)));
      case 'getAppointmentTypes':
        return records(typeRecords.map((it) => controls.spoil('appointmentType', it)));
      case 'getScheduleTemplateCodes':
        return records(codeRecords);
      case 'getDayWorkSchedule':
        return dayWorkSchedule(mustHave(first), Date.parse(then ?? ''));
      case 'getAppointment2': {
        const row = rows.get(Number(first));
        return records(row ? sentRows([row]) : []);
      }
      case 'getAppointmentsForDateRangeAndProvider2': {
        const found = [...rows.values()].filter((it) => here(it) && it.date >= day(first) && it.date < day(then));
        return records(sentRows(shuffled(found)));
      }
      case 'getAppointmentsForPatient2': {
        const found = [...rows.values()].filter((it) => it.fields.demographicNo === first);
        const sorted = shuffled(found).sort((a, b) => b.date.localeCompare(a.date));
        return records(sentRows(sorted.slice(Number(then), Number(then) + Number(third))));
      }
      case 'getAppointmentsUpdatedAfterDate':
        return records(sentRows(updatedAfter(rows.values(), first, then)));
      case 'getAppointmentArchivesUpdatedAfterDate':
        return records(updatedAfter(archive, first, then).map((it) => rowRecord(it, it.archiveId)));
      case 'addAppointment':
        return [String((await addAppointment(transfer())).id)];
      case 'updateAppointment':
        await updateAppointment(transfer());
        return [];
      default: {
        if (user !== 'gateway') throw new Fault('missing required sec object (_demographic)');
        if (operation === 'searchDemographicsByAttributes') return records(searchPatients(args));
        if (operation !== 'getDemographic2') throw new Fault(`No such operation: ${operation}`, 'soap:Client');
        const found = demographics.get(mustHave(first));
        return records(found ? [controls.spoil('demographic', found)] : []);
      }
    }
  }

  const tokenOf = (user: string) => `${user} since ${starts}`;
  const users = new Map([
    ['7', 'gateway'],
    ['8', 'limited'],
  ]);

  function signIn(call: XmlElement): string[] {
    const [user = '', given] = ['arg0', 'arg1'].map((name) => textOf(call, '', name));
    const [id] = [...users].find(([, name]) => name === user) ?? [];
    if (!id || given !== password) throw new Fault('Invalid Username/Password');
    return [xmlOf({ securityId: Number(id), securityTokenKey: tokenOf(user) })];
  }

  /** The user that WS-Security names. */
  function userOf(envelope: XmlElement, text: string): string {
    const header = childOf(envelope, soap, 'Header');
    const token = childrenOf(header?.children[0] ?? envelope, wsse, 'UsernameToken')[0];
    const user = users.get((token && textOf(token, wsse, 'Username')) ?? '');
    const isText = /Password [^>]*Type="[^"]+#PasswordText"/.test(text);
    if (user && isText && token && textOf(token, wsse, 'Password') === tokenOf(user)) return user;
    throw new Fault('A security error was encountered when verifying the message', 'ns1:SecurityError');
  }

  async function answer(operation: string, service: string, text: string): Promise<readonly [number, string]> {
    const message = (content: string) =>
      `<soap:Envelope xmlns:soap="${soap}"><soap:Body>${content}</soap:Body></soap:Envelope>`;
    try {
      const envelope = readXml(text);
      const body = childOf(envelope, soap, 'Body');
      const call = mustHave(body && childOf(body, namespace, operation));
      const isOpen = ['LoginService', 'SystemInfoService'].includes(service);
      const user = isOpen ? '' : userOf(envelope, text);
      const found = operation === 'login2' ? signIn(call) : await run(operation, call, user);
      const returns = found.map((it) => `<return>${it}</return>`).join('');
      return [200, message(`<ns2:${operation}Response xmlns:ns2="${namespace}">${returns}</ns2:${operation}Response>`)];
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      const { code, message: words } = error;
      const prefix = code.startsWith('ns1') ? ' xmlns:ns1="http://ws.apache.org/wss4j"' : '';
      const fault = `<faultcode${prefix}>${code}</faultcode><faultstring>${escaped(words)}</faultstring>`;
      return [500, message(`<soap:Fault>${fault}</soap:Fault>`)];
    }
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const operation = /<\w*:?Body[^>]*><(?:\w+:)?(\w+)/.exec(text)?.[1] ?? '';
    seen.push(operation);
    await controls.arrives({ operation });
    const wrong = controls.misbehave({ operation });
    const service = request.url?.split('/').at(-1) ?? '';
    const [status, body] = typeof wrong === 'object' ? wrong : await answer(operation, service, text);
    if (wrong === 'cut') return void request.socket.destroy();
    response.writeHead(status, { 'content-type': 'text/xml;charset=UTF-8' }).end(body);
  }

  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.writeHead(500).end());
  });
  // An idle connection is closed by the caller alone, so that no request meets one that is being closed.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  /** Staff store the last minute as the end. */
  const placeOf = (start: Date, end: Date) => ({
    date: wallOf(start.getTime()).toPlainDate().toString(),
    startTime: stored(wallOf(start.getTime())),
    endTime: stored(wallOf(end.getTime() - 60 * second)),
  });
  return Object.assign(controls, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/oscar/ws`,
    ...{ demographics, rows, archive, holidays, scheduled, seen },
    /** As the desk does, at once. */
    add(fields: FakeRecord, start: Date, end: Date): FakeRow {
      const all = Object.fromEntries(Object.keys(columns).map((name) => [name, '']));
      const now = stamp();
      const row: FakeRow = {
        ...{ id: ++lastId, ...placeOf(start, end), creator: 'desk', created: now, updated: now },
        fields: { ...all, programId: '0', status: 't', ...fields },
      };
      rows.set(row.id, row);
      return row;
    },
    touch(id: string | number, fields: FakeRecord, [start, end]: readonly Date[] = [], at = stamp()) {
      const row = rows.get(Number(id));
      if (!row) throw new Error('No such row');
      archived(row);
      Object.assign(row, start && end ? placeOf(start, end) : {}, { updated: at });
      Object.assign(row.fields, fields);
    },
    remove(id: string | number) {
      archived(mustHave(rows.get(Number(id))));
      rows.delete(Number(id));
    },
    active: () => [...rows.values()].filter(({ fields }) => !/^[CND]/.test(String(fields.status))),
    /** All tokens end. */
    restart: () => void starts++,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('\r', '&#13;');
}

function xmlOf(record: FakeRecord): string {
  return Object.entries(record)
    .map(([name, value]) => (value === null ? '' : `<${name}>${escaped(String(value))}</${name}>`))
    .join('');
}
