import { pendingCodes, withCodes } from '../../../connector-kit/src/conformance/simulated-codes.test-support.ts';
import type { Subject } from '../../../connector-kit/src/conformance/subject.ts';
import { faultyEhrs } from '../../../test/ehrs/faulty-ehr.ts';
import { withoutHolds } from '../../../test/ehrs/limited-ehrs.ts';
import { withEhr, withTolerantBreakers, wrapConnector } from '../../../test/ehrs/other-ehrs.ts';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { riverside, sodermalm } from '../../../test/requests/bookings.ts';
import { careUnitOf } from '../../../test/requests/codes.ts';
import { browserOf, withPages } from '../../../test/requests/patient-page.ts';
import { resolvePatientPage } from '../config/patient-page.ts';

export const returnUrl = 'https://booking.example.org/done';

/**
 * Starts a gateway with pages for patients. Its EHRs can fail. `no-hold` cannot hold a time, `ehr-codes` sends codes itself, and
 * messages of `lund` contain the link.
 */
export async function startPages() {
  const ehrs = faultyEhrs();
  const ehrCodes = pendingCodes();
  const gateway = await startGateway({
    logLevel: 'trace',
    connectors: [
      wrapConnector((connector, emr) => {
        const faulty = ehrs.faulty(connector, emr);
        if (emr === 'ehr-codes') return withCodes({ connector: faulty } as Subject, ehrCodes).connector;
        return emr === 'no-hold' ? withoutHolds(faulty) : faulty;
      }),
    ],
    configure: (demo) => {
      const extended = ['no-hold', 'ehr-codes'].reduce(
        (configuration, id) => withEhr(configuration, { id, like: 'sandbox-se', policies: {} }),
        withPages(withTolerantBreakers(demo)),
      );
      const patient_page = resolvePatientPage({ link_in_messages: true });
      return {
        ...extended,
        clients: extended.clients.map((client) => ({ ...client, return_urls: [returnUrl] })),
        emrs: extended.emrs.map((emr) => ({
          ...emr,
          care_units: emr.care_units.map((it) => (it.id === 'lund' ? { ...it, patient_page } : it)),
        })),
      };
    },
  });
  return {
    gateway,
    ehrs,
    ehrCodes,
    browser: browserOf(gateway),
    sweden: careUnitOf(gateway, sodermalm),
    uk: careUnitOf(gateway, riverside),
  };
}
