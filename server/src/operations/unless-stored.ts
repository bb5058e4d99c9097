import { Problem } from '../problems/problem.ts';
import type { OperationResponse } from './operation-response.ts';

/** Milliseconds. Long enough that a slow EHR or a busy gateway does not cause a look-up for each request. */
const patience = 1000;

/**
 * Returns the outcome of a request, unless it takes long and `find` returns the response that an earlier request with its
 * key stored. So a retry gets that response even if the EHR hangs. The request then ends on its own: it finds its key taken.
 *
 * @param find throws the stored problem
 */
export async function unlessStored(
  running: Promise<OperationResponse>,
  find: () => Promise<OperationResponse | undefined>,
): Promise<OperationResponse> {
  const stored = Promise.withResolvers<OperationResponse>();
  const look = async () => {
    try {
      const response = await find();
      if (response) stored.resolve(response);
    } catch (error) {
      // The request itself reports a failure of the database.
      if (error instanceof Problem) stored.reject(error);
    }
  };
  const timer = setTimeout(look, patience);
  try {
    return await Promise.race([running, stored.promise]);
  } finally {
    clearTimeout(timer);
  }
}
