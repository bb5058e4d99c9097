import { type ConnectorContext, ConnectorError, type EhrResponse } from '@crossward/connector-kit';
import {
  createJsonClient,
  createSessions,
  type JsonClient,
  jsonIn,
  jsonRequest,
  noAnswer,
} from '@crossward/connector-kit/rest';
import Type from 'typebox';
import { Check } from 'typebox/value';
import { refusalOf } from './refusals.ts';
import type { CareSettings } from './settings.ts';

/** The largest page that CARE sends. */
const pageSize = 200;
/** CARE allows five sign-ins in ten minutes. */
const pauseMilliseconds = 5 * 60_000;
/** A token is used no longer than until this long before its end, so that it does not end on its way. */
const marginSeconds = 30;

const tokensSchema = Type.Object({ access: Type.String({ minLength: 1 }), refresh: Type.String({ minLength: 1 }) });
const pageSchema = Type.Object({ count: Type.Integer({ minimum: 0 }), results: Type.Array(Type.Unknown()) });

interface Tokens {
  readonly access: string;
  readonly refresh: string;
  readonly endsAt: Date;
}

type Query = Readonly<Record<string, string>>;

/** The REST interface of CARE. Paths are relative to `/api/v1/`. */
export interface CareClient extends JsonClient {
  /** All records of a list, a page at a time. */
  pages(path: string, query: Query): AsyncGenerator<readonly unknown[]>;
}

export function createClient({ http, settings, now }: ConnectorContext<CareSettings>): CareClient {
  const base = `${settings.base_url}/api/v1/`;
  const post = (path: string, body: object) => ({ ...jsonRequest('POST', base + path, body), writes: false });
  const sessions = createSessions<Tokens, EhrResponse>({
    signIn: async (former) => (former && (await refreshed(former))) ?? tokensIn(await signIn(), now()),
    // CARE answers 403 to a token that has ended.
    hasEnded: ({ status, text }) => status === 401 || (status === 403 && text.includes('token_not_valid')),
    endsAt: ({ endsAt }) => endsAt,
    pauseMilliseconds,
    now,
  });

  async function signIn(): Promise<EhrResponse> {
    const { username, password } = settings;
    const request = post('auth/login/', { username, password: password.reveal() });
    const response = await http.send(request);
    const { status } = response;
    if (status === 200) return response;
    throw new ConnectorError('rejected', 'The EHR rejected the sign-in', { fault: true, refusal: { status } });
  }

  /** `undefined`: the refresh token has ended, too. */
  async function refreshed({ refresh }: Tokens): Promise<Tokens | undefined> {
    const response = await http.send(post('auth/token/refresh/', { refresh })).catch(() => undefined);
    return response?.status === 200 ? tokensIn(response, now()) : undefined;
  }

  const headersOf = ({ access }: Tokens) => ({ authorization: `Bearer ${access}` });
  const client = createJsonClient({ http, base, sessions, headersOf, refusalOf, lockedStatus: 423 });
  return {
    ...client,
    async *pages(path, query) {
      for (let offset = 0; ; ) {
        const parameters = new URLSearchParams({ ...query, limit: String(pageSize), offset: String(offset) });
        const page = await client.get(`${path}?${parameters}`);
        if (!Check(pageSchema, page)) throw noAnswer();
        yield page.results;
        offset += page.results.length;
        if (page.results.length === 0 || offset >= page.count) return;
      }
    },
  };
}

/** @throws ConnectorError for an account that needs a second factor */
function tokensIn({ text }: EhrResponse, now: Date): Tokens {
  const tokens = jsonIn(text);
  if (Check(tokensSchema, tokens)) return { ...tokens, endsAt: endOf(tokens.access, now) };
  throw new ConnectorError('rejected', 'The EHR gives the user no token: it may want a second factor', { fault: true });
}

/** By the token's own lifetime, because the clocks can differ. */
function endOf(access: string, now: Date): Date {
  const never = new Date(8.64e15);
  try {
    const { exp, iat } = JSON.parse(Buffer.from(access.split('.')[1] ?? '', 'base64url').toString());
    const seconds = Number(exp) - Number(iat) - marginSeconds;
    return Number.isFinite(seconds) ? new Date(now.getTime() + seconds * 1000) : never;
  } catch {
    return never;
  }
}
