import { runningServers } from '../../connectors/fhir-r4/counterparts/running-server.ts';
import {
  onRunning,
  portalFakes,
  rebookingFakes,
  slotFakes,
} from '../../connectors/fhir-r4/test/conformance-subjects.ts';
import { describeCounterparts } from './counterparts.ts';

describeCounterparts(slotFakes, { published: true });
describeCounterparts([...portalFakes, ...rebookingFakes], { published: false, raceRounds: 3 });
describeCounterparts(
  runningServers().map((it) => onRunning(it)),
  { published: false, raceRounds: 3 },
);
