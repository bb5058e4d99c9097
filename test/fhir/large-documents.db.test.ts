import { afterAll, expect, test } from 'vitest';
import { startFake } from '../../connectors/fhir-r4/fake/server.ts';
import { careUnitPath } from '../ehrs/other-ehrs.ts';
import { startGateway } from '../gateway/gateway.ts';
import { createLargeDocument, documentsOf, pdfOf } from '../requests/documents.ts';
import { fhirEhr, withEhrs } from './fhir-ehr.ts';

const fake = await startFake({ data: { days: 3 }, returnsBinaries: true });
const gateway = await startGateway({ configure: (demo) => withEhrs(demo, [fhirEhr('fhir', fake)]) });
afterAll(async () => {
  await gateway.close();
  await fake.close();
});

test('a server that sends the content back may send more than the largest response', async () => {
  const path = documentsOf('p-1', careUnitPath('fhir', 'north'));
  const bytes = pdfOf(8 * 1024 * 1024);
  const { status, body, text } = await createLargeDocument(gateway, bytes, { path });
  expect(status, text).toBe(201);
  expect(fake.store.all('Binary')).toHaveLength(1);
  const content = await gateway.request('GET', `${path}/${body.id}/content`);
  expect(content.bytes.equals(bytes)).toBe(true);
});
