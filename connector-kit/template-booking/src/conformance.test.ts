import { describeConformance } from '@crossward/connector-kit/conformance/vitest';
import { clinicSubject } from './subject.ts';

describeConformance('the clinic', clinicSubject);
