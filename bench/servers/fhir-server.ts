// The small FHIR server of the connector's tests.
import { startFake } from '../../connectors/fhir-r4/fake/server.ts';
import { report } from './parent.ts';

const server = await startFake({ data: { days: 60 } });
report(server.url, () => server.close());
