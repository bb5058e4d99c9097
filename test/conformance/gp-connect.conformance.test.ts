import { gpConnectSubject } from '../../connectors/gp-connect/test/conformance-subject.ts';
import { describeCounterparts } from './counterparts.ts';

describeCounterparts([{ name: 'gp-connect', make: gpConnectSubject }], { published: true });
