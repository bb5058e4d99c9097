import { plainHttp, type Subject } from '@crossward/connector-kit/conformance';

/** One of the fake FHIR servers, by its name. */
function fhir(name: string): () => Promise<Subject> {
  return async () => {
    const { slotFakes } = await import('../../connectors/fhir-r4/test/conformance-subjects.ts');
    const counterpart = slotFakes.find((it) => it.name === name);
    if (!counterpart) throw new Error(`No counterpart ${name}`);
    return counterpart.make();
  };
}

/** The connectors that mutants are put into, each over its fake. Imported when they are needed: the FHIR servers are large. */
export const subjects: Readonly<Record<string, () => Promise<Subject>>> = {
  gnuhealth: async () => (await import('../../connectors/gnuhealth/test/subject.ts')).fakeSubject(),
  'gp-connect': async () =>
    (await import('../../connectors/gp-connect/test/conformance-subject.ts')).gpConnectSubject(),
  'rivta-scheduling': async () => (await import('../../connectors/rivta-scheduling/test/subject.ts')).rivtaSubject(),
  care: async () => (await import('../../connectors/care/test/subject.ts')).careSubject(),
  oscar: async () => (await import('../../connectors/oscar/test/subject.ts')).oscarSubject(),
  'fhir-r4, slot claim': fhir('fhir-r4, slot claim'),
  'fhir-r4, transaction': fhir('fhir-r4, transaction'),
  template,
  'template-booking': async () => (await import('../../connector-kit/template-booking/src/subject.ts')).clinicSubject(),
};

const numbers = {
  ambiguousPatients: [{ type: 'nhs_number', value: '9990000034' }],
  numbersAsWritten: [{ type: 'nhs_number', value: '9990000018' }],
  unknownPatients: [
    { type: 'emr_id', value: '9999' },
    { type: 'nhs_number', value: '9990000026' },
  ],
  patient: [
    { type: 'emr_id', value: '1001' },
    { type: 'nhs_number', value: '9990000018' },
  ],
} as const;
const careUnit = { id: 'clinic', timeZone: 'Europe/London' };

/** As in the template's own test. */
async function template(): Promise<Subject> {
  const { connector } = await import('../../connector-kit/template/src/connector.ts');
  const { startToyServer } = await import('../../connector-kit/template/src/toy-server.ts');
  const server = await startToyServer();
  const context = { emr: 'toy', settings: { base_url: server.url }, careUnits: [careUnit], now: () => new Date() };
  return {
    name: 'template',
    connector: await connector.open({ ...context, http: plainHttp() }),
    careUnit,
    facts: numbers,
    close: server.close,
  };
}
