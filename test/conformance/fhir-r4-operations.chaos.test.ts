import { operationFakes } from '../../connectors/fhir-r4/test/conformance-subjects.ts';
import { describeCounterparts } from './counterparts.ts';

describeCounterparts(operationFakes, { published: true, raceRounds: 3 });
