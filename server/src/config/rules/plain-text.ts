import { isMapping, type Mistake, type Path } from '../mistakes/mistake.ts';
import { isLoopback, isLoopbackHost } from './loopback.ts';

/** The parts of a configuration that say where other machines are. */
interface Places {
  readonly emrs?:
    | readonly (
        | {
            readonly settings?: unknown;
            readonly connection?: { readonly allow_plain_text?: boolean | undefined } | undefined;
          }
        | undefined
      )[]
    | undefined;
  readonly messages?: { readonly sms?: unknown; readonly email?: unknown } | undefined;
}

/** A setting by which data would travel to another machine without TLS. */
interface PlainText {
  readonly path: Path;
  readonly text: string;
  /** Absent: cannot be allowed. */
  readonly isAllowed?: boolean;
}

/** Settings of connectors whose URLs they call. Others can be identifiers, which many standards write as URLs. */
const calledUrls = new Set(['base_url', 'operations_url', 'token_url']);

/** What travels without TLS although no setting allows it. */
export function plainTextMistakes(places: Places): Mistake[] {
  return findPlainText(places)
    .filter(({ isAllowed }) => !isAllowed)
    .map(({ path, text }) => ({ path, at: 'value', text }));
}

/** The settings by which data travels to another machine without TLS, because a setting allows it. */
export function allowedPlainText(places: Places): Path[] {
  return findPlainText(places).flatMap(({ path, isAllowed }) => (isAllowed ? [path] : []));
}

function findPlainText({ emrs = [], messages }: Places): PlainText[] {
  return [
    ...emrs.flatMap((emr, index) => {
      const isAllowed = emr?.connection?.allow_plain_text === true;
      return urlsIn(emr?.settings, ['emrs', index, 'settings'], calledUrls).map((path) => ({
        path,
        text: 'must start with https://, because patients and credentials are sent there; http:// is allowed for loopback addresses, and with connection.allow_plain_text: true',
        isAllowed,
      }));
    }),
    ...urlsIn(messages?.sms, ['messages', 'sms'], new Set(['url', 'base_url'])).map((path) => ({
      path,
      text: 'must start with https://, because codes are sent there; http:// is allowed for loopback addresses only',
    })),
    ...unencryptedSmtp(messages?.email),
  ];
}

/** The paths of URLs with these names that name another machine and have no TLS. */
function urlsIn(value: unknown, path: Path, names: ReadonlySet<string>): Path[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => urlsIn(item, [...path, index], names));
  if (!isMapping(value)) return [];
  return Object.entries(value).flatMap(([key, item]) => {
    const isUrl = typeof item === 'string' && names.has(key) && URL.canParse(item);
    if (!isUrl) return urlsIn(item, [...path, key], names);
    const { protocol, hostname } = new URL(item);
    return protocol === 'http:' && !isLoopbackHost(hostname) ? [[...path, key]] : [];
  });
}

function unencryptedSmtp(email: unknown): PlainText[] {
  if (!isMapping(email) || email.tls !== 'none') return [];
  if (typeof email.host !== 'string' || isLoopback(email.host)) return [];
  const text =
    'must be implicit or starttls, because codes and the password are sent there; none is allowed for loopback addresses, and with allow_plain_text: true';
  return [{ path: ['messages', 'email', 'tls'], text, isAllowed: email.allow_plain_text === true }];
}
