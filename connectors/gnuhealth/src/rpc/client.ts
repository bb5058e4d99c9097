import { ConnectorError, type EhrRequest, type EhrStream } from '@crossward/connector-kit';
import type { OpenContext } from '@crossward/connector-kit/rest';
import type { Static, TObject } from 'typebox';
import type { GnuHealthSettings } from '../settings.ts';
import { type Answer, readAnswer } from './answer.ts';
import { fieldsOf, readRows } from './rows.ts';
import { gnuHealthSessions, type Session } from './session.ts';

/** A term of a search, or a group of terms. */
export type Domain = readonly unknown[];

/** Fields that have these values. */
export function equal(fields: object): Domain {
  return Object.entries(fields).map(([name, value]) => [name, '=', value]);
}

export interface Search<Row extends TObject> {
  readonly model: string;
  /** What a row must be like. Its fields are those that are asked for. */
  readonly row: Row;
  readonly domain: Domain;
  /** The field by which rows are ordered, and then by id. Absent: by id. */
  readonly order?: string;
  readonly limit?: number;
  readonly context?: object;
}

/** A page of rows. */
export interface Page<Row> {
  readonly rows: readonly Row[];
  /** Whether there may be more. */
  readonly isFull: boolean;
}

/** Tryton's JSON-RPC: https://docs.tryton.org/projects/server/en/7.0/topics/rpc.html */
export interface RpcClient {
  /** The id of the user that the gateway signs in as. */
  userId(): Promise<number>;
  /** @throws ConnectorError */
  call(method: string, params: readonly unknown[], context?: object): Promise<unknown>;
  /** A row that cannot be read hides no others: it is left out, and counted. */
  searchRead<Row extends TObject>(search: Search<Row>): Promise<readonly Static<Row>[]>;
  /** As `searchRead`, up to `limit` of them. A page that is full has a row that can be read. */
  searchPage<Row extends TObject>(search: Search<Row> & { readonly limit: number }): Promise<Page<Static<Row>>>;
  /** As `searchRead`, for rows of which each is needed. @throws ConnectorError `rejected` if one cannot be read */
  searchAll<Row extends TObject>(search: Search<Row>): Promise<readonly Static<Row>[]>;
  /**
   * Sends a write once, or as often as needed if it is `repeatable`.
   *
   * @throws ConnectorError `outcome_unknown` if the server's answer does not tell whether it was done
   */
  write(
    method: string,
    params: readonly unknown[],
    options: { readonly context?: object; readonly repeatable: boolean },
  ): Promise<Answer>;
  /** As `write`, with a body of its own. */
  send(body: EhrRequest['body'], repeatable: boolean): Promise<Answer>;
  /** The response to a read, as it arrives. */
  stream(method: string, params: readonly unknown[]): Promise<EhrStream>;
  /** By the `Date` of the last response. */
  now(): Date;
  /** A time of the gateway's clock by that of the server: up to a second early, as `Date` has no fractions. */
  at(time: Date): Date;
}

/** Every request is a POST, so that only the caller knows what it does. */
type Effect = Pick<EhrRequest, 'repeatable' | 'writes'>;
const readOnly: Effect = { repeatable: true, writes: false };

export function createRpcClient({ http, settings, now, leftOut }: OpenContext<GnuHealthSettings>): RpcClient {
  const sessions = gnuHealthSessions(http, settings, now);
  /** By how much the clock of the server is ahead, in milliseconds. */
  let ahead = 0;

  function inSession<Response extends { readonly status: number; readonly headers: EhrStream['headers'] }>(
    send: (session: Session) => Promise<Response>,
  ): Promise<Response> {
    return sessions.in(async (session) => {
      const response = await send(session);
      const date = Date.parse(response.headers.date ?? '');
      if (!Number.isNaN(date)) ahead = date - now().getTime();
      return response;
    });
  }

  function request(body: EhrRequest['body'], { authorization }: Session, options: Effect): EhrRequest {
    return {
      method: 'POST',
      url: `${settings.base_url}/${settings.database}/`,
      headers: { 'content-type': 'application/json', authorization },
      ...(body === undefined ? {} : { body }),
      ...options,
      // The server has rolled back what it answers with an exception, and does so with status 200.
      refused: ({ text }) => 'exception' in (readAnswer(text) ?? {}),
    };
  }

  async function exchange(body: EhrRequest['body'], options: Effect): Promise<Answer> {
    const { status, text } = await inSession((session) => http.send(request(body, session, options)));
    // The application's own errors come with 200. A proxy may have failed after the server had done the write.
    if (status >= 500) throw new ConnectorError('outcome_unknown', `The EHR responded ${status}`);
    if (status !== 200) throw new ConnectorError('rejected', `The EHR responded ${status}`, { refusal: { status } });
    const answer = readAnswer(text);
    if (!answer) throw new ConnectorError('outcome_unknown', 'The EHR sent an invalid response');
    return answer;
  }

  async function call(method: string, params: readonly unknown[], context: object = {}): Promise<unknown> {
    const answer = await exchange(bodyOf(method, params, context), readOnly).catch((error: unknown) => {
      const isRead = error instanceof ConnectorError && error.kind === 'outcome_unknown';
      throw isRead ? new ConnectorError('rejected', error.message, { cause: error, fault: true }) : error;
    });
    if ('result' in answer) return answer.result;
    // The message of an exception may name a patient.
    const refusal = { status: 200, code: answer.exception };
    throw new ConnectorError('rejected', `The EHR responded to ${method} with ${answer.exception}`, { refusal });
  }

  /** The rows that can be read, and how many the server has sent. */
  async function search<Row extends TObject>({ model, row, domain, order, limit, context }: Search<Row>) {
    const fields = order === undefined ? ['id'] : [order, 'id'];
    const params = [domain, 0, limit ?? null, fields.map((it) => [it, 'ASC']), fieldsOf(row)];
    const found = await call(`model.${model}.search_read`, params, context);
    if (Array.isArray(found)) return { rows: readRows(model, row, found, leftOut), sent: found.length };
    throw new ConnectorError('rejected', `The EHR sent an invalid response to a search of ${model}`);
  }

  function at(time: Date): Date {
    return new Date(time.getTime() + ahead);
  }

  return {
    userId: async () => (await sessions.get()).userId,
    call,
    send: (body, repeatable) => exchange(body, { repeatable, writes: true }),
    searchRead: async (wanted) => (await search(wanted)).rows,
    async searchPage(wanted) {
      for (let { limit } = wanted; ; limit *= 2) {
        const { rows, sent } = await search({ ...wanted, limit });
        if (rows.length > 0 || sent < limit) return { rows, isFull: sent >= limit };
      }
    },
    async searchAll(wanted) {
      const { rows, sent } = await search(wanted);
      if (rows.length === sent) return rows;
      throw new ConnectorError('rejected', `The EHR sent a record of ${wanted.model} that cannot be read`);
    },
    write: (method, params, { context = {}, repeatable }) =>
      exchange(bodyOf(method, params, context), { repeatable, writes: true }),
    stream: (method, params) =>
      inSession((session) => http.stream(request(bodyOf(method, params, {}), session, readOnly))),
    now: () => at(now()),
    at,
  };
}

/** The server refuses any other member, such as `jsonrpc`, and a call without its context. */
function bodyOf(method: string, params: readonly unknown[], context: object): string {
  return JSON.stringify({ id: 0, method, params: [...params, context] });
}
