import { rivtaSubject } from '../../connectors/rivta-scheduling/test/subject.ts';
import { describeCounterparts } from './counterparts.ts';

describeCounterparts([{ name: 'rivta-scheduling', make: () => rivtaSubject() }], { published: true });
