"""From captured traffic to three pictures, by way of tables on Spark."""
