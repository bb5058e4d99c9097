import { otherSlotFakes } from '../../connectors/fhir-r4/test/conformance-subjects.ts';
import { describeCounterparts } from './counterparts.ts';

describeCounterparts(otherSlotFakes, { published: true, raceRounds: 3 });
