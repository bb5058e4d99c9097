// The small FHIR server of the connector's tests.
import { startFake } from '../../connectors/fhir-r4/fake/server.ts';
import { readOptions, report } from './parent.ts';

const server = await startFake({ data: readOptions<{ readonly days: number }>() });
report(server.url, () => server.close());
