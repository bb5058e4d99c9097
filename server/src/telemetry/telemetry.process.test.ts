import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startChild } from '../../../test/processes/child-gateway.ts';
import { eventually } from '../../../test/requests/codes.ts';
import { startOtlpReceiver } from '../../../test/requests/otlp-receiver.ts';

test('npm start exports the traces of a process, the last ones when it stops', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'crossward-'));
  const collector = await startOtlpReceiver();
  const variables = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' };
  const gateway = await startChild({ dataDir, variables });
  try {
    expect((await gateway.send({ method: 'GET', path: '/api/emrs' }))?.status).toBe(200);
    process.kill(gateway.pid, 'SIGTERM');
    await gateway.ended;
    await eventually(() => expect(collector.spans.map(({ name }) => name)).toContain('GET /api/emrs'));
    expect(collector.resources[0]).toMatchObject({ 'service.name': 'crossward' });
  } finally {
    await gateway.kill();
    await collector.close();
    await rm(dataDir, { recursive: true });
  }
});
