import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { watchFile } from './watch-file.ts';

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'crossward-watch-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

test('a file is another one after it was written, replaced and removed, and each time only once', async () => {
  const folder = await newFolder();
  const path = join(folder, 'crossward.yaml');
  const changes = [
    () => writeFile(path, 'first'),
    () => writeFile(path, 'second one'),
    async () => {
      await writeFile(`${path}.new`, 'second one');
      await rename(`${path}.new`, path);
    },
    () => rm(path),
  ];
  const file = watchFile(path);
  for (const change of changes) {
    await change();
    expect([await file.look(), await file.look(), await file.look()]).toEqual([false, true, false]);
  }
});

test('a file that is still being written is read when it stays as it is', async () => {
  const path = join(await newFolder(), 'crossward.yaml');
  await writeFile(path, 'emrs:');
  const file = watchFile(path);
  await file.look();
  for (const part of ['emrs: [', 'emrs: [ ', 'emrs: []']) {
    await writeFile(path, part);
    expect(await file.look()).toBe(false);
  }
  expect(await file.look()).toBe(true);
});

test('a mounted ConfigMap, whose link ..data is replaced, is another file', async () => {
  const folder = await newFolder();
  const publish = async (version: string) => {
    await mkdir(join(folder, version));
    await writeFile(join(folder, version, 'crossward.yaml'), 'same size');
    await symlink(version, join(folder, '..data_tmp'));
    await rename(join(folder, '..data_tmp'), join(folder, '..data'));
  };
  await publish('..v1');
  await symlink('..data/crossward.yaml', join(folder, 'crossward.yaml'));
  const file = watchFile(join(folder, 'crossward.yaml'));
  await file.look();
  await file.look();
  await publish('..v2');
  expect([await file.look(), await file.look()]).toEqual([false, true]);
});
