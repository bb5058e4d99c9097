import { resourceKinds } from '@crossward/connector-kit';
import Type from 'typebox';
import { nextCursor } from '../api/paging.ts';
import { choice, emrId, reference } from '../api/schemas.ts';

export const resourceSchema = Type.Object(
  {
    id: emrId,
    identifiers: Type.Array(Type.String(), { description: 'All known identifiers, in Resource ID notation.' }),
    kind: choice(resourceKinds),
    name: Type.String(),
    healthcare_service_ids: Type.Array(Type.String(), {
      description: 'Healthcare services that can be booked with this resource.',
    }),
  },
  { $id: 'Resource', description: 'A practitioner, room or device that can be booked.' },
);

export const resourceListSchema = Type.Object({
  resources: Type.Array(reference('Resource')),
  next_cursor: nextCursor,
});
