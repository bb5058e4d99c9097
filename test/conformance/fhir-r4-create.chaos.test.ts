import { createFakes } from '../../connectors/fhir-r4/test/conformance-subjects.ts';
import { describeCounterparts } from './counterparts.ts';

describeCounterparts(createFakes, { published: true, raceRounds: 3 });
