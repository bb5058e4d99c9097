import { expect, test } from 'vitest';
import { DatabaseError } from './errors.ts';
import { serverUrls } from './server-urls.ts';

test('makes a URL for each host, in their order', () => {
  expect(serverUrls('postgresql://me:a%40b@one:5432,two,[::1]:5433/crossward?target_session_attrs=read-write')).toEqual(
    [
      'postgresql://me:a%40b@one:5432/crossward?target_session_attrs=read-write',
      'postgresql://me:a%40b@two/crossward?target_session_attrs=read-write',
      'postgresql://me:a%40b@[::1]:5433/crossward?target_session_attrs=read-write',
    ],
  );
  expect(serverUrls('postgres://one,two?sslmode=verify-full&target_session_attrs=read-write')).toEqual([
    'postgres://one?sslmode=verify-full&target_session_attrs=read-write',
    'postgres://two?sslmode=verify-full&target_session_attrs=read-write',
  ]);
});

test.each([
  'postgresql://me:hunter2@one:5432/crossward',
  'postgresql:///crossward?host=/run/postgresql',
  'postgresql://one/crossward?target_session_attrs=any',
  'postgresql://me:a,b@one/crossward?options=-c%20a=b,c',
])('leaves a URL with one host unchanged: %s', (url) => {
  expect(serverUrls(url)).toEqual([url]);
});

test.each([
  ['postgresql://me:hunter2@one,two/x', 'several hosts needs target_session_attrs=read-write'],
  ['postgresql://me:hunter2@one,two/x?target_session_attrs=any', 'several hosts needs target_session_attrs=read-write'],
  ['postgresql://me:hunter2@one/x?target_session_attrs=standby', 'must be read-write'],
  ['postgresql://me:hunter2@one,,two/x?target_session_attrs=read-write', 'is empty'],
])('rejects %s', (url, reason) => {
  expect(() => serverUrls(url)).toThrow(DatabaseError);
  expect(() => serverUrls(url)).toThrow(reason);
  expect(() => serverUrls(url)).not.toThrow('hunter2');
});
