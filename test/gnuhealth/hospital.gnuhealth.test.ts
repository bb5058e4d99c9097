import { fileURLToPath } from 'node:url';
import { describeConformance } from '@crossward/connector-kit/conformance/vitest';
import { test } from 'vitest';
import { type Hospital, startHospital } from '../../examples/gnuhealth/hospital.ts';
import { NotPossible } from '../../examples/gnuhealth/python.ts';
import { gatewayBefore } from '../../server/src/ehr/gateway-before.ts';
import { describeScenarios } from './scenarios.ts';
import { type Site, subjectOf } from './site.ts';

/** A real one, installed as the example installs it. */
const hospital = await startHospital({
  packages: fileURLToPath(new URL('../../.data/gnuhealth-packages', import.meta.url)),
  report: (step) => void process.stderr.write(`${step}\n`),
}).catch((error: unknown) => {
  if (error instanceof NotPossible) return error.message;
  throw error;
});

if (typeof hospital === 'string') {
  test('GNU Health', ({ skip }) => skip(hospital));
} else {
  describeConformance('a real GNU Health', async () => {
    const subject = await subjectOf('GNU Health', siteOf(hospital));
    return Object.create(subject, { callGateway: { value: gatewayBefore(() => subject.connector) } });
  });
  describeScenarios('a real GNU Health behind a gateway', async () => siteOf(hospital));
}

function siteOf({ url, database, user, password, desk, gateway, ...contents }: Hospital): Site {
  return {
    ...contents,
    settings: {
      base_url: url,
      database,
      user,
      password: { reveal: () => password },
      national_number: 'no_personal_number',
      note_author: gateway,
    },
    desk: { user: desk.user, password: { reveal: () => desk.password } },
  };
}
