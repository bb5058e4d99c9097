import { describeConformance } from '@crossward/connector-kit/conformance/vitest';
import { careSubject } from '../../connectors/care/test/subject.ts';
import { slotFakes } from '../../connectors/fhir-r4/test/conformance-subjects.ts';
import { fakeSubject } from '../../connectors/gnuhealth/test/subject.ts';
import { gpConnectSubject } from '../../connectors/gp-connect/test/conformance-subject.ts';
import { oscarSubject } from '../../connectors/oscar/test/subject.ts';
import { rivtaSubject } from '../../connectors/rivta-scheduling/test/subject.ts';

// As often as the kit runs races for everybody else: `npm test` runs them three times.
for (const { name, make } of [
  ...slotFakes,
  { name: 'care', make: careSubject },
  { name: 'gnuhealth', make: fakeSubject },
  { name: 'gp-connect', make: gpConnectSubject },
  { name: 'oscar', make: oscarSubject },
  { name: 'rivta-scheduling', make: () => rivtaSubject() },
]) {
  describeConformance(`ten races of ${name}`, make, { only: ['races'] });
}
