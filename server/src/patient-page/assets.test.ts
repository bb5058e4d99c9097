import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { resolvePatientPage } from '../config/schema/patient-page.ts';
import { ConfigurationError } from '../startup/configuration-error.ts';
import { createPageAssets } from './assets.ts';

const folder = await mkdtemp(join(tmpdir(), 'crossward-logo-'));
afterAll(() => rm(folder, { recursive: true }));

async function assetsWith(content: string | Uint8Array) {
  const logo_file = join(folder, 'logo');
  await writeFile(logo_file, content);
  return createPageAssets(resolvePatientPage({ logo_file }), 6);
}

test('the name of a style sheet depends on the colours and on the length of codes', async () => {
  const [plain, again, green] = await Promise.all(
    [{}, {}, { accent_color: '#14532d' }].map((it) => createPageAssets(resolvePatientPage(it), 6)),
  );
  expect((await createPageAssets(resolvePatientPage(), 8)).style.name).not.toBe(plain?.style.name);
  expect(plain?.style.name).toBe(again?.style.name);
  expect(plain?.style.name).not.toBe(green?.style.name);
  expect(String(green?.style.content)).toMatch(/^:root \{\n {2}--light-accent: #14532d;\n/);
  expect(plain?.logo).toBeUndefined();
});

test.each([
  ['image/png', Buffer.from('89504e470d0a1a0a0000', 'hex'), /^[0-9a-f]{16}\.png$/],
  ['image/svg+xml', '<svg xmlns="http://www.w3.org/2000/svg"/>', /^[0-9a-f]{16}\.svg$/],
  ['image/svg+xml', '<?xml version="1.0"?>\n<!-- a <logo> -->\n<svg viewBox="0 0 1 1"/>', /\.svg$/],
])('a logo is %s', async (type, content, name) => {
  const { logo } = await assetsWith(content);
  expect(logo).toMatchObject({ type, name: expect.stringMatching(name) });
});

test('other files are rejected', async () => {
  for (const content of ['<html><svg></svg></html>', 'GIF89a', Buffer.alloc(300_000)]) {
    await expect(assetsWith(content)).rejects.toThrow(ConfigurationError);
  }
  const missing = resolvePatientPage({ logo_file: join(folder, 'missing.png') });
  await expect(createPageAssets(missing, 6)).rejects.toThrow(/missing\.png: no such file/);
});
