/** @module-tag any-database */
import { afterAll, expect, test } from 'vitest';
import { insertWrite } from '../../../../test/database/stuck-rows.ts';
import { type Gateway, startGateway } from '../../../../test/gateway/gateway.ts';
import { startRoundRobinProxy } from '../../../../test/processes/round-robin-proxy.ts';
import { consoleBrowser, newOperator, withConsole } from '../../../../test/requests/console.ts';

/** A proxy that removes `/gateway` from the path, as a host name that is shared with other applications needs it. */
const targets: string[] = [];
const proxy = await startRoundRobinProxy(targets, { path: '/gateway' });
const url = `${proxy.address}/gateway`;
const gateway = await startGateway({ configure: (it) => withConsole(it, url) });
targets.push(`http://127.0.0.1:${gateway.port}`);
afterAll(async () => {
  await gateway.close();
  await proxy.close();
});

const throughProxy = async (
  method: string,
  path: string,
  { body, headers = {} }: { body?: unknown; headers?: object } = {},
) => {
  const { host: _, ...rest } = headers as Record<string, string>;
  const response = await fetch(`${proxy.address}${path}`, {
    method,
    redirect: 'manual',
    headers: rest,
    ...(typeof body === 'string' && { body }),
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  return {
    status: response.status,
    headers: { ...Object.fromEntries(response.headers), 'set-cookie': response.headers.getSetCookie() },
    text: bytes.toString(),
    body: undefined,
    bytes,
  };
};

test('the console works below a path of a proxy', async () => {
  const browser = consoleBrowser({ request: throughProxy as Gateway['request'] }, url);
  const operator = await newOperator(gateway, 'kari', 'admin');
  const id = await insertWrite(gateway.database, 'suspended');
  const wanted = await browser.open(`/gateway/console/operations/${id}`);
  expect(wanted.path).toBe(`/gateway/console/sign-in?next=operations%2F${id}`);
  const { name, password } = operator;
  const signedIn = await browser.submit('/gateway/console/sign-in', { name, password, code: operator.code() });
  expect(signedIn.path).toBe(`/gateway/console/operations/${id}`);
  expect([...browser.cookies.keys()]).toEqual(['crossward-console', 'crossward-browser']);
  const retried = await browser.submit(`/gateway/console/operations/${id}/retry`);
  expect([retried.path, retried.text]).toEqual([
    `/gateway/console/operations/${id}?result=retried`,
    expect.stringContaining('The operation is due.'),
  ]);

  // Every link, form and style sheet of every page, from each depth of the path.
  const seen = new Map<string, number>();
  const visit = async (path: string): Promise<void> => {
    const { pathname } = new URL(path, url);
    if (seen.has(pathname)) return;
    seen.set(pathname, 0);
    const page = await browser.open(path);
    seen.set(pathname, page.status);
    const targetOf = (link: string) => new URL(link.replaceAll('&amp;', '&'), new URL(page.path, url));
    for (const [, action = ''] of page.html.matchAll(/ action="([^"]+)"/g))
      expect(targetOf(action).pathname).toMatch(/^\/gateway\/console\//);
    for (const [, link = ''] of page.html.matchAll(/ href="(?!data:|#)([^"]+)"/g)) {
      const { pathname, search } = targetOf(link);
      await visit(pathname + search);
    }
  };
  await visit('/gateway/console');
  expect([...seen].filter(([path, status]) => status !== 200 || !path.startsWith('/gateway/console'))).toEqual([]);
  expect([...seen.keys()].some((path) => path.endsWith('.css'))).toBe(true);
  expect(seen.size).toBeGreaterThan(12);

  const missing = await browser.open('/gateway/console/nothing/here');
  expect([missing.status, missing.html]).toEqual([404, expect.stringContaining('href="../../console"')]);
  expect((await browser.open('/gateway/console/')).path).toBe('/gateway/console');
  expect((await throughProxy('GET', '/console')).status).toBe(404);
  await browser.open('/gateway/console');
  expect((await browser.submit('/gateway/console/sign-out')).path).toBe('/gateway/console/sign-in');
  expect((await browser.open('/gateway/console/messages')).path).toBe('/gateway/console/sign-in?next=messages');
});
