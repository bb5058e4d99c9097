import { medplums } from '../../connectors/fhir-r4/test/conformance-subjects.ts';
import { describeCounterparts } from './counterparts.ts';

describeCounterparts(medplums, { published: true, raceRounds: 3 });
