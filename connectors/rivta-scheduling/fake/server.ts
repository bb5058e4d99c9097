import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Calendar, calendarOf } from './calendar.ts';
import { answerNotes, type FakeNote } from './care-documentation.ts';
import { BadMessage, elements, envelopeOf, faultOf, messageNamespace, readRequest } from './messages.ts';
import { answersOf, type Behaviour, Fault } from './producer.ts';

/** What happens to the next requests of an operation. */
export type Mishap =
  /** The answer is lost after the change was made. */
  | 'answer lost'
  /** The connection closes before anything was done. */
  | 'request lost'
  /** A fault with this text, and nothing is done. */
  | { readonly fault: string; readonly code?: 'Client' | 'Server' }
  /** A fault with this text, although it was done. */
  | { readonly faultAfter: string }
  /** A body of its own, with status 200. */
  | { readonly body: string };

export interface FakeProducer {
  readonly url: string;
  readonly notesUrl: string;
  readonly calendar: Calendar;
  readonly behaviour: Behaviour;
  /** What the next requests of an operation meet, in order. */
  readonly mishaps: Map<string, Mishap[]>;
  readonly notes: FakeNote[];
  /** The requests and answers so far, with the operation. */
  readonly log: { readonly operation: string; readonly request: string; readonly answer: string }[];
  /** Called with the operation before it is carried out. */
  before: (operation: string) => Promise<void>;
  close(): Promise<void>;
}

interface Options {
  /** How many days have slots. */
  readonly days?: number;
  /** Milliseconds before each answer. */
  readonly delay?: number;
  /** Requests above this many in a second get 429. Default: no limit. */
  readonly requestsPerSecond?: number;
}

const registry = 'urn:riv:itintegration:registry:1 LogicalAddress';
const actors = 'urn:riv:interoperability:headers:1 Actor';

/** A producer of `crm:scheduling` 1.1 that validates every message as one with schema validation does. */
export async function startFake({ days = 14, delay = 0, requestsPerSecond }: Options = {}): Promise<FakeProducer> {
  const calendar = calendarOf(days);
  const behaviour: Behaviour = {};
  const answers = answersOf(calendar, behaviour);
  const times: number[] = [];

  async function respond(request: IncomingMessage, response: ServerResponse, text: string): Promise<void> {
    if (isTooFast(times, requestsPerSecond)) {
      response.writeHead(429, { 'retry-after': '1' }).end();
      return;
    }
    if (request.url === '/notes') {
      const answer = answerNotes(text, fake.notes);
      fake.log.push({ operation: 'GetCareDocumentation', request: text, answer });
      return reply(response, 200, answer);
    }
    const operation = operationIn(request, text);
    await fake.before(operation);
    const [mishap] = fake.mishaps.get(operation)?.splice(0, 1) ?? [];
    if (mishap === 'request lost') return void response.destroy();
    if (typeof mishap === 'object' && 'fault' in mishap)
      return reply(response, 500, faultOf(mishap.code ?? 'Server', mishap.fault));
    const { status, answer } = carryOut(text, answers);
    fake.log.push({ operation, request: text, answer });
    if (delay > 0) await sleep(delay);
    if (mishap === 'answer lost') return void response.destroy();
    if (mishap && 'body' in mishap) return reply(response, 200, mishap.body);
    if (mishap) return reply(response, 500, faultOf('Server', mishap.faultAfter));
    reply(response, status, answer);
  }

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    try {
      await respond(request, response, Buffer.concat(chunks).toString('utf8'));
    } catch (error) {
      reply(response, 500, faultOf('Client', error instanceof Error ? error.message : 'Fel'));
    }
  });
  // An idle connection is closed by the caller alone, so that no request meets one that is being closed.
  server.keepAliveTimeout = 0;
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const fake: FakeProducer = {
    url: `http://127.0.0.1:${port}/{operation}`,
    notesUrl: `http://127.0.0.1:${port}/notes`,
    calendar,
    behaviour,
    mishaps: new Map(),
    notes: [],
    log: [],
    before: async () => undefined,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return fake;
}

function isTooFast(times: number[], limit: number | undefined): boolean {
  const now = performance.now();
  while ((times[0] ?? now) < now - 1000) times.shift();
  if (limit !== undefined && times.length >= limit) return true;
  times.push(now);
  return false;
}

/** The address, the SOAPAction and the message must name the same operation. */
function operationIn(request: IncomingMessage, text: string): string {
  const { operation } = readRequest(text);
  if (request.headers.soapaction !== `"${messageNamespace(operation)}:${operation}"`) {
    throw new BadMessage('The given SOAPAction does not match an operation');
  }
  if (request.headers['content-type'] !== 'text/xml; charset=UTF-8') throw new BadMessage('wrong content type');
  if (request.url !== `/${operation}`) throw new BadMessage('wrong address');
  return operation;
}

function carryOut(text: string, answers: ReturnType<typeof answersOf>): { status: number; answer: string } {
  const { operation, header, body } = readRequest(text);
  const facility = body.texts.healthcare_facility ?? body.parts.requestedTimeslot?.texts.healthcare_facility;
  const actor = header.get(actors);
  const [id, type] = actor ? elements(actor) : [];
  if (!id?.textContent || !/^subject_of_care(_agent)?$/.test(type?.textContent ?? '')) throw new BadMessage('no actor');
  if (header.get(registry)?.textContent !== facility) throw new BadMessage('VP004 No route for this logical address');
  try {
    const content = answers[operation]?.(body) ?? [];
    const name = `${operation}Response`;
    return { status: 200, answer: envelopeOf({ namespace: messageNamespace(operation), name, content }) };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { status: 500, answer: faultOf(error.code, error.message) };
  }
}

function reply(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { 'content-type': 'text/xml; charset=UTF-8' }).end(body);
}
