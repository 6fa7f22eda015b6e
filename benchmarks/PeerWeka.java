// What Weka does in benchmarks/peers.py: "java -cp weka.jar PeerWeka.java table.arff EVALUATOR" prints as JSON what it takes
// and the value of each attribute.
import java.io.FileReader;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import weka.attributeSelection.ASEvaluation;
import weka.attributeSelection.AttributeEvaluator;
import weka.core.Instances;

public class PeerWeka {
    public static void main(String[] arguments) throws Exception {
        Instances table;
        try (FileReader file = new FileReader(arguments[0])) {
            table = new Instances(file);
        }
        table.setClassIndex(table.numAttributes() - 1);
        Instances tenth = new Instances(table, 0, table.numInstances() / 10);
        evaluate(arguments[1], tenth);
        System.gc();
        Files.writeString(Path.of("/proc/self/clear_refs"), "5");
        var machine = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        double before = memory("VmRSS");
        long cpu = machine.getProcessCpuTime(), start = System.nanoTime();
        String values = evaluate(arguments[1], table);
        double seconds = (System.nanoTime() - start) / 1e9, used = (machine.getProcessCpuTime() - cpu) / 1e9;
        System.out.println("{\"seconds\": " + seconds + ", \"cpu\": " + used + ", \"memory\": "
            + (memory("VmHWM") - before) + ", \"version\": \"" + weka.core.Version.VERSION + "\", \"values\": [" + values + "]}");
    }

    static String evaluate(String name, Instances table) throws Exception {
        ASEvaluation evaluation = ASEvaluation.forName("weka.attributeSelection." + name, new String[0]);
        evaluation.buildEvaluator(table);
        StringBuilder values = new StringBuilder();
        for (int i = 0; i < table.numAttributes() - 1; i++) {
            values.append(i == 0 ? "" : ", ").append(((AttributeEvaluator) evaluation).evaluateAttribute(i));
        }
        return values.toString();
    }

    static double memory(String field) throws Exception {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith(field)) {
                return Double.parseDouble(line.split("\\s+")[1]) / 1024;
            }
        }
        throw new IllegalStateException(field);
    }
}
