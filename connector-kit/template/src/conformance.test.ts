import { plainHttp } from '@crossward/connector-kit/conformance';
import { describeConformance } from '@crossward/connector-kit/conformance/vitest';
import { connector } from './connector.ts';
import { startToyServer } from './toy-server.ts';

const careUnit = { id: 'clinic', timeZone: 'Europe/London' };

describeConformance('the toy', async () => {
  const server = await startToyServer();
  const opened = await connector.open({
    emr: 'toy',
    settings: { base_url: server.url },
    careUnits: [careUnit],
    http: plainHttp(),
    now: () => new Date(),
  });
  return {
    name: 'toy',
    connector: opened,
    careUnit,
    facts: {
      patient: [
        { type: 'emr_id', value: '1001' },
        { type: 'nhs_number', value: '9990000018' },
      ],
      ambiguousPatients: [{ type: 'nhs_number', value: '9990000034' }],
      numbersAsWritten: [{ type: 'nhs_number', value: '9990000018' }],
      unknownPatients: [
        { type: 'emr_id', value: '9999' },
        { type: 'nhs_number', value: '9990000026' },
      ],
    },
    close: server.close,
  };
});
