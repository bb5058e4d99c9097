import { DatabaseError } from './errors.ts';

const form = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^@/?#]*)((?:[/?#].*)?)$/s;

/**
 * One URL for each host of a PostgreSQL URL, in its order: `postgresql://a:5432,b:5433/db?target_session_attrs=read-write`,
 * as libpq reads it (https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-MULTIPLE-HOSTS).
 *
 * @throws {DatabaseError} when the URL does not ask for a server that accepts writes
 */
export function serverUrls(databaseUrl: string): readonly [string, ...string[]] {
  const [, start = '', hosts = '', rest = ''] = form.exec(databaseUrl) ?? [];
  const attributes = /[?&]target_session_attrs=([^&#]*)/.exec(rest)?.[1];
  if (attributes !== undefined && attributes !== 'read-write' && attributes !== 'any') {
    throw new DatabaseError('target_session_attrs of the database URL must be read-write.');
  }
  const [first = '', ...others] = hosts.split(',');
  if (others.length === 0) return [databaseUrl];
  if (attributes !== 'read-write') {
    throw new DatabaseError('A database URL with several hosts needs target_session_attrs=read-write.');
  }
  if ([first, ...others].includes('')) throw new DatabaseError('A host of the database URL is empty.');
  const urlOf = (host: string) => `${start}${host}${rest}`;
  return [urlOf(first), ...others.map(urlOf)];
}
