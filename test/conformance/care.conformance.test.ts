import { careSubject } from '../../connectors/care/test/subject.ts';
import { describeCounterparts } from './counterparts.ts';

describeCounterparts([{ name: 'care', make: careSubject }], { published: true });
