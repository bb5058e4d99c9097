import { fakeSubject } from '../../connectors/gnuhealth/test/subject.ts';
import { describeCounterparts } from './counterparts.ts';

describeCounterparts([{ name: 'gnuhealth', make: fakeSubject }], { published: true });
