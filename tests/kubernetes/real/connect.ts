/** Script that sends one request with each kubeconfig of its arguments, and prints the results as JSON. */

import { Client } from "@workqueue/kubernetes";
import process from "node:process";

const results = [];
for (const path of process.argv.slice(2)) {
  process.env["KUBECONFIG"] = path;
  try {
    const client = Client.fromEnvironment();
    const review = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
    interface Reviewed {
      status: { userInfo: { username: string } };
    }
    const answer = await client.request<Reviewed>("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {
      body: review,
    });
    results.push(answer.status.userInfo.username);
    client.close();
  } catch (error) {
    const { status, message } = error as { status?: number; message: string };
    results.push(status ?? message);
  }
}
console.log(JSON.stringify(results));
process.exit();
