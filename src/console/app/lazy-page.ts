import { lazyRouteComponent } from '@tanstack/react-router';
import { isServed } from '../api/call.ts';

/**
 * A page whose code is loaded when somebody first goes there. If it cannot be loaded, the router reloads the whole
 * console, which is right after an upgrade, whose files are different. But while the gateway is away, a reload
 * would leave the browser's own error page and lose a token that was typed. In that case only this page shows the
 * failure.
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
