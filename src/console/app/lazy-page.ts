import { lazyRouteComponent } from '@tanstack/react-router';
import { isServed } from '../api/call.ts';

/**
 * A page whose code is loaded on the first visit. If that fails the router reloads the console, which is right
 * after an upgrade; while the gateway is away, only this page shows the failure.
 */
export const lazyPage: typeof lazyRouteComponent = (load, name) =>
  lazyRouteComponent(async () => {
    try {
      return await load();
    } catch (error) {
      if (await isServed()) throw error;
      throw new Error('The gateway does not answer', { cause: error });
    }
  }, name);
