import { oscarSubject } from '../../connectors/oscar/test/subject.ts';
import { describeCounterparts } from './counterparts.ts';

describeCounterparts([{ name: 'oscar', make: oscarSubject }], { published: true });
