import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { startFake } from '../../connectors/fhir-r4/fake/server.ts';
import { temporaryFolder } from '../../server/src/config/test-support.ts';

const run = promisify(execFile);

test('the commands that fhir:load prints can be run unchanged', async () => {
  const server = await startFake({ takesIds: true, data: [] });
  onTestFinished(() => server.close());
  const env = { ...process.env, CROSSWARD_DATA_DIR: await temporaryFolder() };
  const load = ['examples/fhir/load.ts', '--base-url', server.url, '--days', '14'];
  const { stdout } = await run(process.execPath, load, { env });
  const [check, ...more] = stdout
    .replaceAll('\\\n', '')
    .split('\n')
    .filter((line) => line.startsWith('npx '));
  expect(more).toHaveLength(1);
  const checked = await run('sh', ['-c', check ?? ''], { env });
  expect(checked.stdout).toContain('Booking by transaction');
  const proved = await run('sh', ['-c', `${more[0]} --only patients resources create`], { env });
  expect(proved.stdout).toContain('patients');
});
