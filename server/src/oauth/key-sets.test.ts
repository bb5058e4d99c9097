import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { newKey } from '../../../test/requests/tokens.ts';
import { createKeySets } from './key-sets.ts';

const { publicKey } = await newKey('a');
const open = { timeout_ms: 10_000, allow_http: true, allow_private_addresses: true };

/** A server of keys, with the paths that were asked for. */
async function publisher(answer: RequestListener) {
  const asked: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { asked, uri: `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks.json` };
}

function keySets(settings: Partial<typeof open> = {}) {
  const sets = createKeySets({ ...open, ...settings });
  onTestFinished(() => sets.close());
  return sets;
}

test('whoever sends assertions causes no more than a reading in ten seconds, whatever the cache control', async () => {
  const { asked, uri } = await publisher((_request, response) => {
    response.writeHead(200, { 'cache-control': 'no-store' }).end(JSON.stringify({ keys: [publicKey] }));
  });
  const sets = keySets();
  for (const kid of ['a', 'a', 'unknown', undefined, 'other']) await sets.of({ uri }, kid);
  expect(asked).toHaveLength(1);
  const later = performance.now() + 10_001;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => later);
  onTestFinished(() => void clock.mockRestore());
  await sets.of({ uri }, 'a');
  expect(asked).toHaveLength(2);
});

test('an assertion that names no key may be signed with one that was published meanwhile', async () => {
  const { asked, uri } = await publisher((_request, response) => response.end(JSON.stringify({ keys: [publicKey] })));
  const sets = keySets();
  await sets.of({ uri }, undefined);
  const later = performance.now() + 10_001;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => later);
  onTestFinished(() => void clock.mockRestore());
  await sets.of({ uri }, 'a');
  expect(asked).toHaveLength(1);
  await sets.of({ uri }, undefined);
  expect(asked).toHaveLength(2);
});

test('a redirect is not followed', async () => {
  const { asked, uri } = await publisher((_request, response) => {
    response.writeHead(302, { location: '/other' }).end();
  });
  await expect(keySets().of({ uri }, 'a')).rejects.toThrow('the response has the status 302');
  expect(asked).toEqual(['/jwks.json']);
});

test.each(['127.0.0.1', '[::ffff:127.0.0.1]', 'localhost'])(
  'keys at the private address %s are not read',
  async (host) => {
    const { asked, uri } = await publisher((_request, response) => void response.end('{}'));
    const { port } = new URL(uri);
    const reading = keySets({ allow_private_addresses: false }).of({ uri: `http://${host}:${port}/jwks.json` }, 'a');
    await expect(reading).rejects.toThrow('the address is not allowed');
    expect(asked).toEqual([]);
  },
);

test('a key that says it signs too is not used, like one of another type', async () => {
  const { uri } = await publisher((_request, response) => {
    response.end(JSON.stringify({ keys: [{ ...publicKey, key_ops: ['verify', 'sign'] }] }));
  });
  await expect(keySets().of({ uri }, 'a')).rejects.toThrow('no JWK Set with a key that can be used');
});
